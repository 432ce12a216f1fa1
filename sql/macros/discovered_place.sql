-- The columns of page that never change, of an observation whose URL its own fetch found.
CREATE OR REPLACE MACRO discovered_place(o) AS {
    'bucket': o.bucket, 'host_key': o.host_key, 'host': o.host, 'url': o.url, 'fetch_url': o.fetch_url,
    'pattern_key': o.discovered.pattern_key, 'depth': o.discovered.depth, 'hops': o.discovered.hops,
    'discovered_at': o.discovered.discovered_at
};
