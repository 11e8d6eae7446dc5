#!/bin/sh
# A tour of the example programs. It needs `cxl` on the PATH and runs from anywhere.
set -eu
cd "$(dirname "$0")"

title() { printf '\n== %s\n' "$1"; }

title 'Programs and modules are checked and formatted'
cxl check clean_customers.cxl
cxl check enrich_orders.cxl
cxl check explode_items.cxl
cxl check flatten_profile.cxl
cxl check rules/shared/dates.cxl
cxl fmt --check clean_customers.cxl enrich_orders.cxl explode_items.cxl flatten_profile.cxl

title 'clean_customers.cxl: text typed by hand becomes typed fields'
cxl eval clean_customers.cxl --record "$(cat records/customer.json)"

title 'enrich_orders.cxl: prices and periods, with shared rules and a pipeline variable'
cxl eval enrich_orders.cxl --record "$(cat records/order.json)" --var free_shipping_from=100

title 'explode_items.cxl: one record per item'
cxl eval explode_items.cxl --record "$(cat records/basket.json)"

title 'flatten_profile.cxl: nested paths and closures'
cxl eval flatten_profile.cxl --record "$(cat records/profile.json)"

title 'A built-in explained'
cxl functions try_date
