import { defineCommand, type TopGroup } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { fileText } from '../../command/editor.ts';
import { param } from '../../command/param.ts';
import { namedTemplates, placeForTemplate, templateNamed } from '../../command/template-file.ts';
import { replaceFile } from '../../disk/file/atomic-file.ts';
import { removeFile } from '../../disk/file/folder.ts';
import { Failure } from '../../errors.ts';
import { onlyNotes } from '../../output/only-notes.ts';
import { parseTemplate } from '../../text/template.ts';

const args = { name: param.requiredText('Name of the template', { placeholder: 'NAME', offers: 'templates' }) };

const list = defineCommand({
  name: 'list',
  summary: 'Name the templates of the configuration folder',
  examples: ['svc templates list'],
  async run(ctx) {
    const records = await namedTemplates(ctx);
    const empty = 'No templates yet. To write one: svc templates edit NAME';
    const columns = ['name', 'placeholders', 'path'];
    return { data: { shape: 'list', records, columns, known: columns, empty }, read: true };
  },
});

const show = defineCommand({
  name: 'show',
  summary: 'Show the text of a template',
  args,
  examples: ['svc templates edit thanks --text "Thank you, {{contact.name}}." && svc templates show thanks'],
  async run(ctx, { args: { name } }) {
    const { text } = await templateNamed(ctx, name);
    return { data: { shape: 'text', text }, read: true };
  },
});

const edit = defineCommand({
  name: 'edit',
  summary: 'Write a template in your editor, a new one too',
  details:
    'A template is the text of a reply, a note, a ticket or an entry, for --template NAME. {{contact.name}} is filled from the record, ' +
    '{{column}} from the row of a file, and both from --set NAME=VALUE. In svc inbox the record alone fills them: {{contact.name}}, {{contact.last_name}}, {{contact.email}}, ' +
    '{{subject}} and {{status}}, and every other field that svc tickets get --json prints.',
  args,
  flags: { text: param.text('The text, instead of the editor', { prose: true }) },
  examples: ['svc templates edit thanks --text "Thank you, {{contact.name}}."'],
  async run(ctx, { args: { name }, flags, settings }) {
    const place = await placeForTemplate(ctx, name);
    const text = await fileText(ctx, settings, {
      ...{ given: flags.text, extension: '.md', noun: 'text' },
      opened: () => place.text ?? '',
    });
    const template = parseTemplate(text);
    if (!template) {
      throw new Failure('usage', 'The text has {{ without a name and }}. Nothing was written.', {
        hint: 'A placeholder is written {{name}}.',
      });
    }
    await replaceFile(place.path, text);
    const done = `Template ${name} is written to ${place.path}.`;
    const unknown = (await import('../../command/template-names.ts')).unknownNames(template.placeholders);
    return {
      data: { shape: 'record', record: { name, placeholders: template.placeholders, path: place.path } },
      done,
      notes: [done, ...(unknown === undefined ? [] : [unknown])],
    };
  },
});

const remove = defineCommand({
  name: 'delete',
  summary: 'Delete a template for good',
  args,
  needs: 'the template: svc templates edit thanks --text Thanks',
  examples: ['svc templates delete thanks --yes'],
  async run(ctx, { args: { name }, settings }) {
    const { path } = await templateNamed(ctx, name);
    await confirmed(ctx, settings, `Delete template ${name}?`);
    await removeFile(path);
    return onlyNotes({ name, path }, [`Template ${name} is deleted: ${path}`]);
  },
});

export const templates: TopGroup = {
  summary: 'Texts that you use again: for --template NAME',
  commands: [list, show, edit, remove],
};
