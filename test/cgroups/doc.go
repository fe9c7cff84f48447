// Command cgroups checks what the node agent measures on a real kernel. It is the first process of a
// virtual machine. It starts programs that use CPU and memory in the control groups that a kubelet
// would create, and compares what they used with what the agent reports. It prints the files that the
// kernel showed, which the tests of agent/cgroup use. See make test-cgroups.
//
// With a file /agent.json, it runs the agent's program instead, which reports to a server outside of
// the virtual machine. See make test-cgroups-agent.
package main
