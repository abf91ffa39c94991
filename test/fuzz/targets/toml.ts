import { parseConfig } from '../../../agent/site/config.ts';
import { isRailheadError, text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** `config.toml` of a site. */
export const target: FuzzTarget = {
  seeds: [
    'site_id = "site-1"\n[central]\nurl = "https://c"\n[provisioning]\ninterface = "eth0"\naddress = "10.0.0.1/24"\npool = ["10.0.0.10", "10.0.0.20"]\n',
    '[cache]\nquota = "50GiB"\n[admin]\nlisten = "127.0.0.1:1"\n[secrets."a/b"]\nfile = "/x"\n',
    '[[a]]\nb = {c = [1, 2.5e3, 1979-05-27T07:32:00Z, """x\\u00e9"""]}\n',
  ].map(text),
  longest: 65_536,
  run: (input) => parseConfig(input.toString('utf8')),
  declares: isRailheadError,
};
