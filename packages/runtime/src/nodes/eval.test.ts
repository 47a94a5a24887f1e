// eval: fields of expressions.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test functions with a memory keep it per group
script
    stream|from().measurement('m').groupBy('h')|eval(lambda: count()).as('n').keep('n')|httpOut('out')
write
    m,h=a v=1 0
    m,h=a v=1 1
    m,h=b v=1 2
emits eval2
    {"columns":["time","n"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:00Z",1]]}
    {"columns":["time","n"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:01Z",2]]}
    {"columns":["time","n"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:02Z",1]]}

test a point without the field is dropped and counted
script
    stream|from().measurement('m')|eval(lambda: "v" * 2.0).as('w')|httpOut('out')
write
    m v=1 0
    m x=1 1
emits eval2
    {"columns":["time","w"],"name":"m","values":[["1970-01-01T00:00:00Z",2]]}
errors eval2 1
`);
