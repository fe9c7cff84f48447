// Command host runs the agent's program in a virtual machine whose containers work, and a server on
// this machine that it reports to, and checks what the server shows. See make test-cgroups-agent.
package main
