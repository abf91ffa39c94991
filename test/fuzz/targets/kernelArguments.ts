import assert from 'node:assert/strict';
import { readCommandLine } from '#ramdisk/join/commandLine.ts';
import { readLease } from '#ramdisk/join/lease.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

/** What whoever answers DHCP can tell a ramdisk: its kernel command line and its lease. */
export const target: FuzzTarget = {
  seeds: [
    'console=ttyS0 railhead.site=https://10.0.0.1:8443 railhead.token=abc.DEF railhead.mac=02:00:00:00:00:01 quiet',
    "mac=02:00:00:00:00:01\nip=10.0.0.5\nsite='https://10.0.0.1:8443'\n",
    'mac=02-00-00-00-00-01\nopt224=0x:68:74\nopt224=68747470733a2f2f61\n',
    'railhead.site=http://x railhead.token= railhead.token=$(x) =a railhead.mac=zz',
  ].map(text),
  longest: 65_536,
  run(input) {
    const told = input.toString('utf8');
    const { site, token } = readCommandLine(told);
    assert(site === undefined || site.startsWith('https://'));
    assert(token === undefined || /^[\x21-\x7e]+$/.test(token));
    const lease = readLease(told);
    assert(lease.site === undefined || lease.site.startsWith('https://'));
  },
};
