import { expect, test } from 'vitest';
import { adviseOn, type BootStep } from '#agent/site/trace/advice.ts';
import { printed, Tracer } from '#agent/site/trace/lines.ts';
import type { SiteEvent } from '#contract/agentWire.ts';
import type { BootFact } from '#contract/bootFact.ts';

/** Steps a second apart. */
function steps(...facts: BootFact[]): BootStep[] {
  return facts.map((fact, index) => ({ at: index * 1000, fact }));
}

/** The patterns that hold `later` milliseconds after the last step. */
function patterns(facts: BootFact[], later = 0): string[] {
  const all = steps(...facts);
  return adviseOn(all, (all.at(-1)?.at ?? 0) + later).map(({ pattern }) => pattern);
}

const client = 'uefi-pxe';
const file = 'snponly.efi';
const offer: BootFact = { step: 'offer', client, file };
const ack: BootFact = { step: 'ack', client, file };
const tftp = (more: Partial<Extract<BootFact, { step: 'tftp' }>> = {}): BootFact => ({
  ...{ step: 'tftp', file, outcome: 'complete', bytes: 292_800, blockSize: 1464, resentBlocks: 0 },
  ...more,
});
const noFile = (name: string): BootFact => ({ step: 'no-file', file: name });
const script: BootFact = { step: 'script', boots: 'ramdisk' };
const image = (
  part: 'linux' | 'initrd',
  outcome: 'asked' | 'complete' | 'cut' | 'refused' = 'complete',
): BootFact => ({ step: 'image', part, outcome });
const untilInitrd = [offer, ack, tftp(), script, image('linux'), image('initrd')];

const ramdiskAck: BootFact = { step: 'ack', client: 'ramdisk' };

const failing: [name: string, facts: BootFact[], later: number, pattern: string][] = [
  [
    'gave up after the first blocks',
    [ack, tftp({ outcome: 'abandoned', bytes: 3 * 1464 })],
    0,
    'tftp-first-blocks',
  ],
  ['many blocks were sent again', [ack, tftp({ resentBlocks: 60 })], 0, 'tftp-lossy'],
  ['asked for what is not here alone', [offer, ack, noFile('pxelinux.0')], 25_000, 'unknown-file'],
  ['refused its address', [{ step: 'nak', client }], 0, 'address-refused'],
  ['never fetched its boot file', [offer, ack], 25_000, 'loader-not-fetched'],
  ['never asked for its script', [offer, ack, tftp()], 25_000, 'script-not-fetched'],
  ['script fetched but kernel not', [ack, tftp(), script], 31_000, 'kernel-not-fetched'],
  ['image not there', [ack, script, image('linux', 'refused')], 0, 'image-refused'],
  ['image cut off', [ack, script, image('initrd', 'cut')], 0, 'image-cut'],
  ['ramdisk never spoke', untilInitrd, 121_000, 'ramdisk-silent'],
  ['ramdisk has an address only', [...untilInitrd, ramdiskAck], 61_000, 'ramdisk-not-come'],
  ['ramdisk never joined', [...untilInitrd, { step: 'token' }], 61_000, 'ramdisk-not-joined'],
  [
    'certificate refused',
    [...untilInitrd, { step: 'tls-refused', reason: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' }],
    0,
    'tls-refused',
  ],
  ['join refused', [...untilInitrd, { step: 'join-refused', reason: 'expired' }], 0, 'join-refused'],
];

test.each(failing)('%s', (_, facts, later, pattern) => {
  expect(patterns(facts, later)).toEqual([pattern]);
});

test('a boot that goes well is told nothing, however the machine waits at its end', () => {
  const whole: BootFact[] = [
    offer,
    offer,
    ack,
    tftp(),
    offer,
    ack,
    script,
    image('linux', 'asked'),
    image('linux'),
  ];
  expect(patterns([offer, ack, noFile('revocations.efi'), tftp(), noFile('autoexec.ipxe'), script])).toEqual(
    [],
  );
  for (let length = 1; length <= whole.length; length++) expect(patterns(whole.slice(0, length))).toEqual([]);
  expect(patterns([offer, ack, tftp(), { step: 'script', boots: 'disk' }], 3_600_000)).toEqual([]);
  expect(patterns([{ step: 'ack', client: 'os', file: 'x' }], 3_600_000)).toEqual([]);
});

const loader = (name: string): BootFact => ({ step: 'loader', file: name });
const whole = (outcome: 'asked' | 'complete'): BootFact => ({ step: 'image', part: 'whole', outcome });
const ramdiskUp: BootFact[] = [
  ...[image('linux', 'asked'), image('linux'), image('initrd', 'asked'), image('initrd')],
  ...[{ step: 'offer', client: 'ramdisk' } as const, ramdiskAck],
];
const wholeBoots: [name: string, facts: BootFact[]][] = [
  ['BIOS and iPXE', [offer, offer, ack, tftp({ file: 'undionly.kpxe' }), offer, ack, script, ...ramdiskUp]],
  ['UEFI HTTP boot', [offer, ack, loader('/ipxe/snponly.efi'), offer, ack, script, ...ramdiskUp]],
  [
    'shim and GRUB',
    [
      ...[
        offer,
        ack,
        tftp({ file: 'shimx64.efi' }),
        noFile('revocations.efi'),
        tftp({ file: 'grubx64.efi' }),
      ],
      ...[tftp({ file: 'grub/grub.cfg' }), script, ...ramdiskUp],
    ],
  ],
  ["the operator's own key", [offer, ack, whole('asked'), whole('complete'), ramdiskAck, { step: 'token' }]],
  ['in a VLAN', [offer, ack, tftp(), { step: 'script', boots: 'vlan' }, offer, ack, script, ...ramdiskUp]],
];

test.each(wholeBoots)('%s: a boot that ends with the join is told nothing, then and later', (_, facts) => {
  const tracer = new Tracer();
  const lines = facts.flatMap((fact, second) => tracer.add(event(second, fact)));
  lines.push(...tracer.add(joined(facts.length + 20)));
  lines.push(...tracer.advice(start + 86_400_000));
  expect(lines.filter(({ type }) => type === 'advice')).toEqual([]);
  expect(lines.at(-1)?.text).toContain('the ramdisk has joined');
});

test('a machine that boots again after it joined is advised of that boot', () => {
  const tracer = new Tracer();
  tracer.add(joined(1));
  tracer.add(event(100, ack, 'boot_2'));
  expect(tracer.advice(start + 200_000)).toMatchObject([{ bootId: 'boot_2' }]);
});

test('advice names what was seen and what to look at', () => {
  const [advice] = adviseOn(steps(ack, tftp({ outcome: 'abandoned', bytes: 3 * 1464 })), 5000);
  expect(advice?.text).toContain('asked for snponly.efi, gave up after 3 blocks');
  expect(advice?.text).toContain('path MTU');
  const [clock] = adviseOn(
    steps({ step: 'tls-refused', reason: 'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED' }),
    0,
  );
  expect(clock?.text).toContain('clock is wrong');
});

const start = Date.parse('2026-01-01T00:00:00Z');

function event(seconds: number, fact: BootFact, bootId = 'boot_1'): SiteEvent {
  const at = new Date(start + seconds * 1000).toISOString();
  return {
    eventId: `ev_${seconds}`,
    at,
    type: 'boot.other',
    text: fact.step,
    mac: '02:00:00:00:00:01',
    bootId,
    fact,
  };
}

function joined(seconds: number): SiteEvent {
  const { eventId, at, mac, bootId } = event(seconds, ack);
  return {
    ...{
      eventId,
      at,
      mac,
      bootId,
      type: 'agent.joined',
      nodeId: 'node_1',
      role: 'ramdisk',
      trust: 'network',
    },
  } as SiteEvent;
}

test('a trace gives each advice once, at its place, and anew in the next boot', () => {
  const tracer = new Tracer();
  const texts = [
    event(0, ack),
    event(60, tftp({ outcome: 'abandoned', bytes: 1464 })),
    event(61, tftp({ outcome: 'abandoned', bytes: 1464 })),
    event(120, ack, 'boot_2'),
  ].flatMap((one) =>
    tracer.add(one).map(({ type, text }) => (type === 'advice' ? `> ${text.slice(0, 30)}` : text)),
  );
  expect(texts).toEqual([
    'ack',
    '> took its address and never fet',
    'tftp',
    '> asked for snponly.efi, gave up',
    'tftp',
    'ack',
  ]);
  expect(tracer.advice(start + 141_000)).toHaveLength(1);
  expect(tracer.advice(start + 142_000)).toEqual([]);
});

test('what the boot server advises by itself is told once, in its words', () => {
  const tracer = new Tracer();
  for (let second = 0; second < 5; second++) tracer.add(event(second, offer));
  const facts = {
    eventId: 'ev_9',
    at: '2026-01-01T00:00:09.000Z',
    mac: '02:00:00:00:00:01',
    bootId: 'boot_1',
  };
  const lines = tracer.add({ ...facts, type: 'boot.advice', text: '4 offers in a row were not accepted' });
  expect([...lines, ...tracer.advice(start + 600_000)].map(printed)).toEqual([
    '00:00:09.000   -> 4 offers in a row were not accepted',
  ]);
});

test('lines say when, what and in words', () => {
  const line = { at: '2026-01-01T10:20:30.456Z', type: 'boot.tftp', text: 'snponly.efi complete' };
  expect(printed(line)).toBe('10:20:30.456  boot.tftp          snponly.efi complete');
  expect(printed({ ...line, text: 'a\u001b[2J\nb' }).split('\n')).toEqual([
    expect.stringContaining('a\\u001b[2J'),
    `${' '.repeat(33)}b`,
  ]);
  expect(printed({ ...line, type: 'advice', text: 'path MTU?' })).toBe('10:20:30.456   -> path MTU?');
});
