-- What a page holds, as a row of page or observation says it.
CREATE OR REPLACE MACRO page_content(r) AS {
    'body_digest': r.body_digest, 'text_digest': r.text_digest, 'copy_digest': r.copy_digest, 'simhash': r.simhash,
    'text_bytes': r.text_bytes, 'body_bytes': r.body_bytes, 'title': r.title,
    'language': r.language, 'noindex': r.noindex, 'canonical_url': r.canonical_url
};
