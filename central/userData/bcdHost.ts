import { bcdJoinArgv, downloadCommand, joinTokenPath } from './argv.ts';
import { nodeUnit } from './nodeUnit.ts';
import type { TemplateVariables } from './render.ts';
import { yamlScalar } from './yamlScalar.ts';

/** `bcd-host.yaml.hbs`: cloud-init that downloads `bcd`, checks its digest, joins as this node and starts the node agent. */
export function bcdHostCloudConfig(variables: TemplateVariables): string {
  return `#cloud-config
hostname: ${yamlScalar(variables.hostname)}
write_files:
  - path: ${joinTokenPath}
    permissions: '0600'
    content: ${yamlScalar(variables.joinToken)}
  - path: /etc/systemd/system/bcd.service
    permissions: '0644'
    content: |
${nodeUnit().replace(/^(?=.)/gm, '      ')}runcmd:
  - [sh, -c, ${JSON.stringify(downloadCommand(variables))}]
  - [${bcdJoinArgv(variables).map(yamlScalar).join(', ')}]
  - [systemctl, enable, --now, bcd.service]
`;
}
