-- What the generated web is called: every URL follows from its bucket, the rank of its host there and its number on it,
-- so that a link can be drawn without looking anything up. Keys are any 64 bits: nothing recomputes them from names.
CREATE OR REPLACE TEMP MACRO web_host(bucket, host_rank) AS
    printf('www.site-%03d-%04d.example.org', bucket, host_rank);
CREATE OR REPLACE TEMP MACRO web_host_key(bucket, host_rank, width) AS
    bucket::UBIGINT * width + hash(bucket::BIGINT, host_rank::BIGINT) % width;
CREATE OR REPLACE TEMP MACRO web_section(number) AS
    ['articles', 'products', 'forum/topics', 'blog', 'tags', 'questions', 'news', 'docs'][1 + number % 8];
CREATE OR REPLACE TEMP MACRO web_url(bucket, host_rank, number) AS
    'https://' || web_host(bucket, host_rank) || '/' || web_section(number) || '/' || 1000 + number * 7919 % 1000003
    || '-' || number;
CREATE OR REPLACE TEMP MACRO web_url_key(bucket, host_rank, number) AS
    hash(bucket::BIGINT, host_rank::BIGINT, number::BIGINT);
CREATE OR REPLACE TEMP MACRO web_pattern_key(host_key, number) AS
    hash(host_key::UBIGINT, web_section(number)) >> 20 << 20;
-- 32 bytes that nothing compresses; those of another kind begin elsewhere in the same.
CREATE OR REPLACE TEMP MACRO web_digest(content) AS unhex(sha256(content::VARCHAR));
CREATE OR REPLACE TEMP MACRO turned_digest(digest, bytes) AS digest[bytes + 1:] || digest[1:bytes];
-- Three in a hundred pages are copies: three of them share one content on average.
CREATE OR REPLACE TEMP MACRO web_content(url_key, version, copies) AS
    CASE
        WHEN hash(url_key::UBIGINT, 'copy', version::BIGINT) % 100 < 3
            THEN 'copy ' || hash(url_key::UBIGINT, version::BIGINT) % copies
        ELSE url_key || ' ' || version
    END;
