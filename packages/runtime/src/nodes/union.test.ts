// union: the points of several streams in order of time.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test a point waits until every stream has come as far
script
    var a = stream|from().measurement('a')
    var b = stream|from().measurement('b')
    a|union(b)|httpOut('out')
write
    a v=1 1
    a v=3 3
emits union4
write
    b v=2 2
emits union4
    {"columns":["time","v"],"name":"a","values":[["1970-01-01T00:00:01Z",1]]}
    {"columns":["time","v"],"name":"b","values":[["1970-01-01T00:00:02Z",2]]}
finish
emits union4
    {"columns":["time","v"],"name":"a","values":[["1970-01-01T00:00:03Z",3]]}

test the result may have a name of its own
script
    var a = stream|from().measurement('a')
    var b = stream|from().measurement('b')
    a|union(b).rename('both')|httpOut('out')
write
    a v=1 1
    b v=2 2
finish
emits union4
    {"columns":["time","v"],"name":"both","values":[["1970-01-01T00:00:01Z",1]]}
    {"columns":["time","v"],"name":"both","values":[["1970-01-01T00:00:02Z",2]]}
`);
