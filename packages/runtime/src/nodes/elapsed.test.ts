// elapsed: time since the point before.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test it is whole units
script
    stream|from().measurement('m')|elapsed('v', 1s)|httpOut('out')
write
    m v=1 0
    m v=1 3
    m v=1 10
emits elapsed2
    {"columns":["time","elapsed"],"name":"m","values":[["1970-01-01T00:00:03Z",3]]}
    {"columns":["time","elapsed"],"name":"m","values":[["1970-01-01T00:00:10Z",7]]}
`);
