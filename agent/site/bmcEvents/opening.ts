import { Slots } from '#base/slots.ts';

/** So many BMCs of a site are asked at once to tell of events: when it starts, hundreds are to be. */
export const opening = new Slots(16);
