package feed

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Server describes a machine type. Unknown values are zero.
type Server struct {
	InstanceType          string
	VCPUs, ThreadsPerCore int
}

// or returns the server with the values of another one where its own are unknown.
func (s Server) or(other Server) Server {
	return Server{cmp.Or(s.InstanceType, other.InstanceType), cmp.Or(s.VCPUs, other.VCPUs), cmp.Or(s.ThreadsPerCore, other.ThreadsPerCore)}
}

func (s Server) own() Server {
	s.InstanceType = strings.Clone(s.InstanceType)
	return s
}

// serverKey identifies a server in the tables of Spare Cores.
type serverKey struct{ vendor, id string }

// Servers is a table of servers.
type Servers map[serverKey]Server

// maxServers is the maximum number of servers in a table.
const maxServers = 100_000

// ReadServers reads rows of the server table of Spare Cores: a JSON array, newline-delimited
// JSON, CSV or the published dump. Rows that cannot be read are left out, and machines that
// only they describe are unknown.
func ReadServers(r io.Reader) (Servers, error) {
	in, err := decompressed(r)
	if err != nil {
		return nil, err
	}
	servers := Servers{}
	err = records(in, serverColumns, func(table string) bool { return table == serverTable }, func(_ int, _ string, r record, fault *Fault) {
		if fault == nil {
			servers.take(r)
		}
	})
	if err == nil && len(servers) == 0 {
		err = fmt.Errorf("the table of servers has no row with %s", quotedAll(serverColumns))
	}
	return servers, err
}

var serverColumns = []string{"vendor_id", "server_id", "vcpus"}

// take adds a row of the table.
func (s Servers) take(r record) {
	k := serverKey{strings.Clone(r("vendor_id")), strings.Clone(r("server_id"))}
	server := Server{InstanceType: strings.Clone(cmp.Or(r("api_reference"), r("server_id")))}
	vcpus, fault := r.count("vcpus")
	if k.id == "" || fault != nil || len(s) == maxServers || max(len(k.vendor), len(k.id), len(server.InstanceType)) > maxName {
		return
	}
	server.VCPUs = vcpus
	cores, fault := r.count("cpu_cores")
	switch {
	case fault == nil && cores > 0 && vcpus%cores == 0:
		server.ThreadsPerCore = vcpus / cores
	case strings.HasPrefix(strings.ToUpper(r("cpu_architecture")), "ARM"):
		server.ThreadsPerCore = 1 // No Arm server has threads that share a core.
	}
	s[k] = server
}

// server returns what is known about a machine: from its rows, from the tables of servers, and
// from the name of its type.
func (c *collector) server(k machineKey, s Server, names map[string]string) (Server, *Fault) {
	if k.vendor != "" {
		id := serverKey{k.vendor, k.name}
		s = s.or(c.servers[id]).or(c.options.Servers[id])
	}
	if s.InstanceType == "" && !isNumber(k.name) {
		s.InstanceType = k.name
	}
	if s.InstanceType == "" {
		return s, &Fault{Field: names["instanceType"], Code: UnknownMachine, Reason: "is not known for " + quoted(k.name) + ": add the table of servers (servers of the feed, --servers)"}
	}
	vcpus, fault := c.options.vcpus(s.VCPUs, names["vcpus"], s.InstanceType)
	s.VCPUs = vcpus
	return s, fault
}

// spareCoresNumbers are the columns of numbers that are read.
var spareCoresNumbers = []string{"score", "vcpus", "cpu_cores"}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// records reads rows of tables in any of the notations of Spare Cores' tables. table is empty
// unless the notation names it.
func records(in *bufio.Reader, columns []string, wanted func(table string) bool, take func(line int, table string, r record, fault *Fault)) error {
	takeJSON := func(row rawRow) error {
		var r record
		fault := row.fault
		if fault == nil {
			r, fault = objectRecord(row.text)
		}
		take(row.line, "", r, fault)
		return nil
	}
	head, _ := in.Peek(headSize)
	switch head = bytes.TrimSpace(head); {
	case bytes.HasPrefix(head, []byte("[")):
		return elements(in, takeJSON)
	case bytes.HasPrefix(head, []byte("{")):
		return lines(in, takeJSON)
	case isDump(head):
		return dump(in, wanted, take)
	}
	return table(in, columns, spareCoresNumbers, func(line int, r record, fault *Fault) { take(line, "", r, fault) })
}
