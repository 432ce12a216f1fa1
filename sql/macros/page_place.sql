-- Where a page is, as a row of page or url says it.
CREATE OR REPLACE MACRO page_place(r) AS {
    'bucket': r.bucket, 'host_key': r.host_key, 'host': r.host, 'url': r.url, 'fetch_url': r.fetch_url,
    'pattern_key': r.pattern_key, 'depth': r.depth, 'hops': r.hops, 'discovered_at': r.discovered_at
};
