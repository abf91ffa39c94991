import Type from 'typebox';

/** A time as ISO 8601 text in UTC. */
export const Time = Type.String({ format: 'date-time' });
