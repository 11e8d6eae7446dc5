"""Web services: the pages of an endpoint, fetched one after another into the spool of a run.

addresses   the user in an address, where it leads, its parameters
bodies      what was sent, unpacked
links       the header that names other pages
paging      which page is next, by what the last one was
answers     one request and its answer, within its time
retrying    requests that are tried again, and how long to wait before
fetching    all pages of an endpoint
"""
