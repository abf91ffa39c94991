import { bcdJoinArgv, downloadCommand, joinTokenPath } from './argv.ts';
import { nodeUnit } from './nodeUnit.ts';
import type { TemplateVariables } from './render.ts';

/**
 * `bcd-host.ign`: Ignition 3.4.0 that does what the cloud-init document does, with two units. It is built as a value, so no
 * variable can change its structure.
 */
export function bcdHostIgnition(variables: TemplateVariables): string {
  const { hostname, joinToken } = variables;
  const document = {
    ignition: { version: '3.4.0' },
    storage: {
      files: [file('/etc/hostname', 0o644, `${hostname}\n`), file(joinTokenPath, 0o600, joinToken)],
    },
    systemd: {
      units: [
        { name: 'bcd-join.service', enabled: true, contents: joinUnit(variables) },
        { name: 'bcd.service', enabled: true, contents: nodeUnit() },
      ],
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** A file as Ignition writes it; the mode is decimal in its JSON. The contents are a data URL (RFC 2397). */
function file(path: string, mode: number, text: string) {
  return { path, mode, overwrite: true, contents: { source: `data:,${encodeURIComponent(text)}` } };
}

/** Runs until the node has joined: `bcd join` removes the token file, and later boots skip the unit. */
function joinUnit(variables: TemplateVariables): string {
  return `[Unit]
Description=better-compute node join
ConditionPathExists=${joinTokenPath}
After=network-online.target
Wants=network-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStartPre=/bin/sh -c "${unitText(downloadCommand(variables))}"
ExecStart=${bcdJoinArgv(variables).map(unitText).join(' ')}
Restart=on-failure
RestartSec=5
[Install]
WantedBy=multi-user.target
`;
}

/** In a unit's command line `%` and `$` begin something unless doubled (systemd.service(5), systemd.unit(5)). */
function unitText(text: string): string {
  return text.replaceAll('%', '%%').replaceAll('$', () => '$$');
}
