/** A time as ISO 8601 text, which sorts as time does. */
export type Time = string;

/** A JSON document as text. */
export type Json = string;
