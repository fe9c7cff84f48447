// Command bench measures how fast the server is and what it costs, on a real API
// server, beside references that it takes in the same run: a bare client that
// sends the same writes. It prints a table and writes JSON.
//
// The server and the bare client are processes of their own, as in life, so that
// each takes its part of the machine from the API server. What is compared is
// measured in turns, and medians are compared, as machines are not equally fast
// all the time.
//
// It must not know how the server works: only its flags, its metrics, its profiles, the
// line of its log that says that it has read all pods, and what the kernel tells of its
// process.
// The bare client is made like the server, with the configuration of reconciler for
// clients that write, and the names of its contract.
package main
