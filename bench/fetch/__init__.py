"""`make bench-fetch`: the whole fetch stage beside Scrapy, on the same pages and the same server.

`web.py` makes the pages, `server.py` serves them with nginx, `ours.py` and `peer.py` fetch them, `measured.py` measures
whoever does, `stages.py` says where our time goes, `report.py` prints it.
"""
