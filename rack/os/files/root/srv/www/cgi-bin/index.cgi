#!/bin/sh
# The page at `/`: which machine this is and what it runs.
printf 'Content-Type: application/json\r\n\r\n'
printf '{"hostname":"%s","image":"%s","kernel":"%s","uptime":%s}\n' \
  "$(hostname)" "$(cat /etc/railhead/image-ref)" "$(uname -r)" "$(cut -d ' ' -f 1 /proc/uptime)"
