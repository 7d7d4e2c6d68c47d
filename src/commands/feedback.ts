import { getRoadmap, listFeedback } from '../api/feedback.ts';
import type { Group } from '../cli/command.ts';
import { fromOperation } from '../cli/from-operation.ts';

export const feedback: Group = {
  name: 'feedback',
  summary: 'Posts on the feedback board',
  commands: [
    fromOperation('list', listFeedback, {
      columns: [
        'id',
        'vote_count',
        'title',
        { path: 'status', as: 'status' },
        'category.name',
        'comments_count',
        'on_roadmap',
      ],
      examples: ['svc feedback list', 'svc feedback list --search export --json'],
    }),
  ],
};

export const roadmap: Group = {
  name: 'roadmap',
  summary: 'The public roadmap',
  commands: [
    fromOperation('get', getRoadmap, {
      columns: ['slug', 'name', 'color'],
      examples: ['svc roadmap get', "svc roadmap get --jq '.[].posts[].title'"],
    }),
  ],
};
