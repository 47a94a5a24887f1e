// flatten: points of one time as one, with tag values in the names of fields.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test points of one time become one when the time has passed
script
    stream|from().measurement('m')|flatten().on('host')|httpOut('out')
write
    m,host=a v=1 0
    m,host=b v=2 0
emits flatten2
write
    m,host=a v=3 10
emits flatten2
    {"columns":["time","a.v","b.v"],"name":"m","values":[["1970-01-01T00:00:00Z",1,2]]}

test names of fields may be left out
script
    stream|from().measurement('m')|flatten().on('host', 'port').delimiter('_').dropOriginalFieldName()|httpOut('out')
write
    m,host=a,port=1 v=1 0
    m,host=a,port=2 v=2 0
    m,host=a,port=1 v=3 10
emits flatten2
    {"columns":["time","a_1","a_2"],"name":"m","values":[["1970-01-01T00:00:00Z",1,2]]}
`);
