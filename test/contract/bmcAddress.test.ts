import { expect, test } from 'vitest';
import { canonicalAddress } from '#contract/bmcAddress.ts';

test.each([
  ['https://BMC-7.example', 'https://bmc-7.example'],
  ['https://bmc-7.example:443/', 'https://bmc-7.example'],
  ['https://10.0.0.7:8443', 'https://10.0.0.7:8443'],
  ['https://[FE80:0:0::7]:443', 'https://[fe80::7]'],
  ['ipmi://BMC-7:623', 'ipmi://bmc-7'],
  ['ipmi://[2001:db8::7]:6230', 'ipmi://[2001:db8::7]:6230'],
  ['nonsense', 'nonsense'],
])('%s is %s', (written, canonical) => {
  expect(canonicalAddress(written)).toBe(canonical);
});
