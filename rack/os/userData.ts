/**
 * The demo's user data: a template (`{{name}}` as in `userdata.render`) of a first-boot script that names the machine and
 * leaves word for the centre: `POST <controlPlaneUrl>/v1/rejoin` with `{"token", "nodeId"}` over TLS, accepted only from a
 * server whose certificate `caPem` vouches for. The CA stands in the template itself, since a template's values are single lines.
 */
export function rejoinTemplate(caPem: string): string {
  return `#!/bin/sh
set -eu
echo '{{hostname}}' >/etc/hostname
hostname '{{hostname}}'
umask 077
rm -rf /etc/railhead/rejoin.new
mkdir -p /etc/railhead/rejoin.new
cd /etc/railhead/rejoin.new
cat >ca.pem <<'PEM'
${caPem.trimEnd()}
PEM
echo '{{controlPlaneUrl}}/v1/rejoin' >url
printf '{"token":"%s","nodeId":"%s"}' '{{joinToken}}' '{{nodeId}}' >body.json
rm -rf /etc/railhead/rejoin
mv /etc/railhead/rejoin.new /etc/railhead/rejoin
`;
}
