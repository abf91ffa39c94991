import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { BatteryClock, rtcOffset } from '#rack/machine/batteryClock.ts';

const now = Date.parse('2026-11-29T12:00:00Z');

test.each([
  ['+2h', 7200],
  ['-90s', -90],
  ['+1d', 86_400],
  ['2026-11-29', -43_200],
])('%s is %i seconds off', (rtc, seconds) => {
  expect(rtcOffset(rtc, now)).toBe(seconds);
});

test('a clock that is right needs no argument, one that is off shows its own time', () => {
  expect(new BatteryClock().arguments(now)).toEqual([]);
  expect(new BatteryClock(7200).arguments(now)).toEqual(['-rtc', 'base=2026-11-29T14:00:00']);
});

test('what the guest sets the clock to holds at the next start', () => {
  const clock = new BatteryClock(7200);
  const qmp = new EventEmitter();
  clock.follow(qmp as never);
  qmp.emit('event', 'RTC_CHANGE', { offset: -7199 });
  expect(clock.arguments(now)).toEqual(['-rtc', 'base=2026-11-29T12:00:01']);
  qmp.emit('event', 'RTC_CHANGE', { offset: -7200 });
  expect(clock.arguments(now)).toEqual([]);
});
