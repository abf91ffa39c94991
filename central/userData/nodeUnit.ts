import { bcdNodeArgv } from './argv.ts';

/** `bcd.service` of a deployed OS, whichever way it gets there. */
export function nodeUnit(): string {
  return `[Unit]
Description=better-compute node agent
After=network-online.target bcd-join.service
Wants=network-online.target
[Service]
ExecStart=${bcdNodeArgv().join(' ')}
Restart=always
RestartSec=5
[Install]
WantedBy=multi-user.target
`;
}
