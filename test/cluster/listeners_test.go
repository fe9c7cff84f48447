package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listening is the state of a listening TCP socket in /proc/net.
const listening = "0A"

// loopback has the addresses, in the format of /proc/net, that other machines cannot
// reach: 127.0.0.1, ::1 and ::ffff:127.0.0.1.
var loopback = map[string]bool{
	"0100007F":                         true,
	"00000000000000000000000001000000": true,
	"0000000000000000FFFF00000100007F": true,
}

func testListeners(t *testing.T, dir string) {
	sockets := map[string]string{}
	for component, pid := range pids(t, dir) {
		descriptors, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil || len(descriptors) == 0 {
			t.Fatalf("list the open files of %s: %v, %v", component, descriptors, err)
		}
		for _, descriptor := range descriptors {
			if target, err := os.Readlink(descriptor); err == nil {
				sockets[target] = component
			}
		}
	}
	found := map[string]int{}
	for _, protocol := range []string{"tcp", "tcp6", "udp", "udp6"} {
		content, err := os.ReadFile("/proc/net/" + protocol)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			fields := strings.Fields(line)
			if len(fields) < 10 {
				continue
			}
			component, ours := sockets["socket:["+fields[9]+"]"]
			if !ours || strings.HasPrefix(protocol, "tcp") && fields[3] != listening {
				continue
			}
			found[component]++
			if address, _, _ := strings.Cut(fields[1], ":"); !loopback[address] {
				t.Errorf("%s has a %s socket at %s", component, protocol, fields[1])
			}
		}
	}
	// etcd listens on a client port and a peer port.
	want := map[string]int{"etcd": 2, "kube-apiserver": 1, "kube-controller-manager": 1, "kube-scheduler": 1}
	for _, component := range sockets {
		if strings.HasPrefix(component, "node-") {
			// One for the kubelet, one for port forwarding and one for the exporter.
			want[component] = 3
		}
	}
	for component, count := range want {
		if found[component] != count {
			t.Errorf("%s has %d listeners, want %d", component, found[component], count)
		}
		delete(found, component)
	}
	if len(found) > 0 {
		t.Errorf("unexpected listeners: %v", found)
	}
}
