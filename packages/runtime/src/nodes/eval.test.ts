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

test children of a point do not see each other's values, nor those of one that failed
script
    var a = stream|from().measurement('m')|eval(lambda: "v" * 2.0).as('a').keep('a', 's')
    a|eval(lambda: "a" + 1.0, lambda: int("s")).as('b', 'i').keep()|httpOut('b')
    a|eval(lambda: "a" + 2.0).as('c').keep()|eval(lambda: "c" + "a").as('d').keep()|httpOut('c')
    a|stateCount(lambda: "a" > 0.0).as('n')|httpOut('n')
write
    m v=1,s="x" 0
    m v=2,s="7" 1
emits eval3
    {"columns":["time","a","b","i","s"],"name":"m","values":[["1970-01-01T00:00:01Z",4,5,7,"7"]]}
emits eval6
    {"columns":["time","a","c","d","s"],"name":"m","values":[["1970-01-01T00:00:00Z",2,4,6,"x"]]}
    {"columns":["time","a","c","d","s"],"name":"m","values":[["1970-01-01T00:00:01Z",4,6,10,"7"]]}
emits state_count8
    {"columns":["time","a","n","s"],"name":"m","values":[["1970-01-01T00:00:00Z",2,1,"x"]]}
    {"columns":["time","a","n","s"],"name":"m","values":[["1970-01-01T00:00:01Z",4,2,"7"]]}
errors eval3 1
`);
