// Package edit changes single values in YAML text, and adds keys to it. All other bytes stay: comments, order,
// indentation, quotes, line ends, and a missing last one.
//
// It finds values by the positions of the YAML parser, and never writes YAML from what was parsed. Each result is
// parsed again and compared with what was meant, so that text that it misunderstands is an error, not a bad file.
//
// It must not know Kubernetes.
package edit
