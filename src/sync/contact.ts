/** What is sent of a row: only what it holds, since a blank says nothing. */
export type Contact = {
  email: string;
  name?: string;
  last_name?: string;
  phone?: string;
  company?: string;
  website?: string;
  country?: string;
  tags?: string[];
  metadata?: Record<string, unknown>;
};
