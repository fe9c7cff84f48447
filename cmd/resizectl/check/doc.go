// Package check has the command that checks whether a cluster can run the server, and whether an
// installed server works.
//
// What the server knows, the checks ask the server. They ask the API server only about what the
// server does not know, or as long as there is no server. They change nothing.
//
// It does not use the verbs of package objects: its report is made of answers of several servers, and parts
// of it are there even if one of them does not answer.
package check
