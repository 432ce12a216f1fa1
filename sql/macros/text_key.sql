-- A page's main text as a number, by which rules of traps tell texts apart: its SimHash, or of a text that is too short for
-- one the start of its digest; NULL for a page that was never read. Pages without any text have one text.
CREATE OR REPLACE MACRO text_key(simhash, text_digest) AS
coalesce(simhash, ('0x' || left(hex(text_digest), 16))::UBIGINT);
