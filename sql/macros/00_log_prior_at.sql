-- The log of a host's prior for one rate: the mean belief over its pages, as if it had 5 more of the whole crawl's kind.
-- host_sum, all_sum: millionths of belief, over host_urls and all_urls pages; without any page all rates are alike.
CREATE OR REPLACE MACRO log_prior_at(host_sum, host_urls, all_sum, all_urls) AS ln((
    host_sum * 1e-6 + 5 * CASE WHEN all_urls > 0 THEN greatest(all_sum * 1e-6, 1e-6 * all_urls) / all_urls ELSE 1.25e-1 END
) / (host_urls + 5));
