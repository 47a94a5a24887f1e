// difference: to the value before.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test a repeated time is ignored
script
    stream|from().measurement('m')|difference('v')|httpOut('out')
write
    m v=1 0
    m v=5 0
    m v=4 1
emits difference2
    {"columns":["time","difference"],"name":"m","values":[["1970-01-01T00:00:01Z",3]]}
`);
