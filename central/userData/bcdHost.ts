/** The `bcd join` call that a deployed OS makes, word by word. */
export function bcdJoinArgv(variables: Readonly<Record<string, string>>): string[] {
  return [
    '/usr/local/bin/bcd',
    'join',
    '--server',
    `${variables.controlPlaneUrl}`,
    '--token-file',
    '/etc/bcd/join-token',
    '--node-id',
    `${variables.nodeId}`,
    '--serving-ca-pin',
    `${variables.servingCaPin}`,
    '--join-signing-pin',
    `${variables.joinSigningPin}`,
    '--join-encryption-pin',
    `${variables.joinEncryptionPin}`,
  ];
}

/** `bcd-host.yaml.hbs`: cloud-init that downloads `bcd`, checks its digest, joins as this node and starts the node agent. */
export function bcdHostCloudConfig(variables: Readonly<Record<string, string>>): string {
  const { hostname, joinToken, bcdUrl, bcdSha256 } = variables;
  const bcd = '/usr/local/bin/bcd';
  const download = `curl -fsSL '${bcdUrl}' -o ${bcd} && echo '${bcdSha256}  ${bcd}' | sha256sum -c - && chmod 0755 ${bcd}`;
  return `#cloud-config
hostname: ${hostname}
write_files:
  - path: /etc/bcd/join-token
    permissions: '0600'
    content: ${joinToken}
  - path: /etc/systemd/system/bcd.service
    permissions: '0644'
    content: |
      [Unit]
      Description=Railhead node agent
      After=network-online.target bcd-join.service
      Wants=network-online.target
      [Service]
      ExecStart=${bcd} node
      Restart=always
      RestartSec=5
      [Install]
      WantedBy=multi-user.target
runcmd:
  - [sh, -c, ${JSON.stringify(download)}]
  - ${JSON.stringify(bcdJoinArgv(variables))}
  - [systemctl, enable, --now, bcd.service]
`;
}
