import { beforeEach, expect, test } from 'vitest';
import { Loops } from '#bootserver/loops.ts';
import { type SteppingClock, steppingClock } from '../fakes/clocks.ts';

const mac = '02:00:00:00:00:01';
const minute = 60_000;
let clock: SteppingClock;
let loops: Loops;

beforeEach(() => {
  clock = steppingClock(0);
  loops = new Loops(clock);
});

/** The advice of each boot that loads iPXE, a minute after the other. */
function load(boots: number, from = 0): (string | undefined)[] {
  return Array.from({ length: boots }, (_, at) => {
    void clock.sleep(minute);
    return loops.loaderGiven(mac, `boot_${from + at}`)?.text;
  });
}

test('the fifth boot that loads iPXE and asks for no script is told of, and the machine gets no loader', () => {
  const advice = load(5);
  expect(advice.slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
  expect(advice[4]).toContain('loaded iPXE 5 times in 4 min and never asked for its script');
  expect(loops.isLooping(mac)).toBe(true);
});

test.each([3, 10, 20])('case 21: a server whose rounds take %i minutes is found too', (minutes) => {
  const told = Array.from({ length: 5 }, (_, at) => {
    void clock.sleep(minutes * minute);
    return loops.loaderGiven(mac, `boot_${at}`);
  });
  expect(told.map((advice) => advice?.trouble)).toEqual([...Array(4).fill(undefined), 'loop']);
});

test('it may try again after ten minutes', () => {
  load(5);
  void clock.sleep(10 * minute);
  expect(loops.isLooping(mac)).toBe(false);
  expect(load(4, 5)).toEqual([undefined, undefined, undefined, undefined]);
});

test('a script that is asked for begins the count anew', () => {
  load(4);
  loops.scriptAsked(mac);
  expect(load(4, 4).every((advice) => advice === undefined)).toBe(true);
  expect(loops.isLooping(mac)).toBe(false);
});

test('many files of one boot are one', () => {
  for (let file = 0; file < 20; file++) expect(loops.loaderGiven(mac, 'boot_0')).toBeUndefined();
});

test('boots that are far apart are no loop', () => {
  for (let boot = 0; boot < 20; boot++) {
    void clock.sleep(3 * 60 * minute);
    expect(loops.loaderGiven(mac, `boot_${boot}`)).toBeUndefined();
  }
});

test('one machine in a loop does not hold up another', () => {
  load(5);
  expect(loops.isLooping('02:00:00:00:00:02')).toBe(false);
});
