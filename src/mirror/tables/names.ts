import type { Fields } from '../../text/record.ts';

/** What people call the records of the kinds; texts of customers as they are, for whoever prints them to make harmless. */

/** Where neither name nor address is known, what is. */
export const contactName = ({ name, last_name, email, phone, company }: Fields): string =>
  [textOf(name), textOf(last_name), textOf(email) && `<${textOf(email)}>`].filter(Boolean).join(' ') ||
  textOf(phone) ||
  textOf(company);

export const ticketName = ({ ticket_number, subject }: Fields): string =>
  `${textOf(ticket_number)} ${textOf(subject)}`.trim();

export const conversationName = ({ subject, channel }: Fields): string =>
  `${textOf(subject) || 'conversation'} (${textOf(channel)})`;

export const callName = ({ from, to, status, duration }: Fields): string =>
  `${textOf(from)} → ${textOf(to)}, ${textOf(status)}, ${textOf(duration)} s`;

export const memberName = ({ name, contacts_list_id }: Fields): string =>
  `${textOf(name)} on list ${textOf(contacts_list_id)}`;

export const messageName = ({ sender_name, sender_type, body }: Fields): string =>
  `${textOf(sender_name) || textOf(sender_type)}: ${textOf(body)}`;

export const titleOf = ({ title, name }: Fields): string => textOf(title ?? name);

export const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
