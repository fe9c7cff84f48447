package node

import (
	"testing"
	"time"
)

func TestParseProgram(t *testing.T) {
	for _, test := range []struct {
		name     string
		command  []string
		duration time.Duration
		exitCode int32
		ends     bool
	}{
		{name: "an image's own command runs forever"},
		{name: "an unknown command runs forever", command: []string{"/app/server"}},
		{name: "true succeeds immediately", command: []string{"/bin/true"}, ends: true},
		{name: "false fails immediately", command: []string{"false"}, exitCode: 1, ends: true},
		{name: "sleep takes its time", command: []string{"sleep", "1.5"}, duration: 1500 * time.Millisecond, ends: true},
		{name: "a shell runs its command", command: []string{"/bin/sh", "-c", "sleep 2"}, duration: 2 * time.Second, ends: true},
		{name: "a shell script is not interpreted", command: []string{"sh", "-c", "true; echo done"}},
		{name: "an endless sleep does not end", command: []string{"sleep", "infinity"}},
		{name: "a sleep without a plain number does not end", command: []string{"sleep", "1h"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			duration, exitCode, ends := parseProgram(test.command)
			if duration != test.duration || exitCode != test.exitCode || ends != test.ends {
				t.Errorf("got %v, exit code %d, ends %t; want %v, %d, %t",
					duration, exitCode, ends, test.duration, test.exitCode, test.ends)
			}
		})
	}
}
