import { vendors } from './index.ts';

/** The rows of docs/hardware.md about BMCs: every quirk of every vendor, those of any BMC last. */
export function bmcTable(): string {
  const rows = vendors.flatMap(({ quirks }) => quirks);
  const lines = rows.map(
    ({ device, does, knownFrom, remedy }) => `| ${device} | ${does} | ${knownFrom} | ${remedy} |`,
  );
  return [
    '| device | what it does | known from | what Railhead does |',
    '| --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}
