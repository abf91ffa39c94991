import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { openHeardAddresses } from '#bootserver/heardAddresses.ts';

const [mac, other] = ['02:00:00:00:00:01', '02:00:00:00:00:02'];

function open(database = new Database(':memory:')) {
  const contested: string[][] = [];
  const clock = { at: 0 };
  const heard = openHeardAddresses({
    database,
    log: silentLog(),
    isNamed: (one) => one === mac,
    onContested: (...words) => contested.push(words),
    now: () => clock.at,
  });
  return { database, heard, contested, clock };
}

test('what was heard outlives a restart, and the newest holder counts', () => {
  const { database, heard } = open();
  heard.heard(mac, '10.79.0.7', 67);
  heard.heard(other, '10.79.0.7', 67);
  heard.close();
  expect(open(database).heard.macAt('10.79.0.7')).toBe(other);
});

test('a machine has one address: the one that it took last, also after a restart', () => {
  const { database, heard } = open();
  heard.heard(mac, '10.79.0.7', 67);
  heard.heard(mac, '10.79.0.8', 67);
  heard.close();
  for (const { macAt } of [heard, open(database).heard])
    expect([macAt('10.79.0.7'), macAt('10.79.0.8')]).toEqual([undefined, mac]);
});

test('what is sent to port 4011 moves no machine from the address that it has just told its server', () => {
  const { heard, contested, clock } = open();
  heard.heard(mac, '10.79.0.7', 67);
  heard.heard(mac, '10.79.0.66', 4011);
  expect([heard.macAt('10.79.0.7'), heard.macAt('10.79.0.66')]).toEqual([mac, undefined]);
  expect(contested).toEqual([[mac, '10.79.0.7', '10.79.0.66']]);
  clock.at += 11 * 60_000;
  heard.heard(mac, '10.79.0.66', 4011);
  expect(heard.macAt('10.79.0.66')).toBe(mac);
});

test('strangers are bounded in number, and push no named machine out', () => {
  const { heard } = open();
  heard.heard(mac, '10.79.0.7', 67);
  const strangers = Array.from({ length: 16_385 }, (_, at) => {
    const bytes = [at >> 8, at & 255];
    const text = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':');
    return { mac: `06:00:00:00:${text}`, address: `10.80.${bytes.join('.')}` };
  });
  for (const stranger of strangers) heard.heard(stranger.mac, stranger.address, 67);
  const known = strangers.filter(({ address }) => heard.macAt(address) !== undefined);
  expect(known).toHaveLength(16_384);
  expect(heard.macAt('10.79.0.7')).toBe(mac);
  heard.close();
});
