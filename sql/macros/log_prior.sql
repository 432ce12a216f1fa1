-- The log of a host's prior for the eight rates; see log_prior_at. Without pages of the host it is the whole crawl's.
CREATE OR REPLACE MACRO log_prior(host_sums, host_urls, all_sums, all_urls) AS {
    'k0': log_prior_at(host_sums.k0, host_urls, all_sums.k0, all_urls),
    'k1': log_prior_at(host_sums.k1, host_urls, all_sums.k1, all_urls),
    'k2': log_prior_at(host_sums.k2, host_urls, all_sums.k2, all_urls),
    'k3': log_prior_at(host_sums.k3, host_urls, all_sums.k3, all_urls),
    'k4': log_prior_at(host_sums.k4, host_urls, all_sums.k4, all_urls),
    'k5': log_prior_at(host_sums.k5, host_urls, all_sums.k5, all_urls),
    'k6': log_prior_at(host_sums.k6, host_urls, all_sums.k6, all_urls),
    'k7': log_prior_at(host_sums.k7, host_urls, all_sums.k7, all_urls)
};
