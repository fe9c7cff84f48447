package main

import (
	"strings"
	"testing"
)

func TestUsageErrors(t *testing.T) {
	t.Setenv(serverVariable, "")
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"unknown format lists the known ones", "invalid argument \"xml\" for \"-o, --output\" flag: must be one of table, wide, json, yaml\nsee \"resizectl plan --help\"\n", []string{"plan", "-o", "xml"}},
		{"unknown format of ratios", "invalid argument \"name\" for \"-o, --output\" flag: must be one of table, wide, json, yaml\nsee \"resizectl ratios list --help\"\n", []string{"ratios", "list", "-oname"}},
		{"a pod of all namespaces", "a pod is in one namespace: name it with --namespace instead of --all-namespaces\nsee \"resizectl plan --help\"\n", []string{"plan", "web", "-A"}},
		{"an empty pod is not every pod", "the name of the pod is empty\nsee \"resizectl plan --help\"\n", []string{"plan", ""}},
		{"an empty namespace is not every namespace", "the namespace is empty; every namespace is --all-namespaces\nsee \"resizectl plan --help\"\n", []string{"plan", "-n", ""}},
		{"two pods", "accepts at most 1 arg(s), received 2\nsee \"resizectl plan --help\"\n", []string{"plan", "a", "b"}},
		{"arguments of list", "unknown command \"n4\" for \"resizectl ratios list\"\nsee \"resizectl ratios list --help\"\n", []string{"ratios", "list", "n4"}},
		{"unknown flag", "unknown flag: --colour\nsee \"resizectl plan --help\"\n", []string{"plan", "--colour"}},
		{"unknown command", "unknown command \"delete\"\nsee \"resizectl --help\"\n", []string{"delete"}},
		{"misspelt command", "unknown command \"paln\": did you mean plan?\nsee \"resizectl --help\"\n", []string{"paln"}},
		{"unknown command of a group", "unknown command \"get\"\nsee \"resizectl ratios --help\"\n", []string{"ratios", "get"}},
		{"nothing to validate", "name the file to check with -f FILE, or -f - for standard input\nsee \"resizectl config validate --help\"\n", []string{"config", "validate"}},
		{"negative timeout", "--timeout -1s is negative; 0 is no limit\n", []string{"plan", "--timeout", "-1s"}},
		{"no such duration", "invalid argument \"soon\" for \"--timeout\" flag: time: invalid duration \"soon\"\nsee \"resizectl plan --help\"\n", []string{"plan", "--timeout", "soon"}},
		{"no port", "server address \"localhost\" is not host:port: address localhost: missing port in address\n" +
			"the address comes from --server or RESIZECTL_SERVER; a port is forwarded with\n  " + portForward + "\n", []string{"plan", "--server", "localhost"}},
		{"another machine", "server address \"10.0.0.1:7443\" is not on this machine, and the connection is plaintext, which is for this machine only " +
			"(127.0.0.0/8, ::1, localhost): use a port-forward to a server elsewhere\n" +
			"the address comes from --server or RESIZECTL_SERVER; a port is forwarded with\n  " + portForward + "\n", []string{"ratios", "list", "--server", "10.0.0.1:7443"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := resizectl(t.Context(), tc.args...)
			if code != exitError || stdout != "" || stderr != "error: "+tc.want {
				t.Errorf("exit %d, stdout %q, stderr\n%s\nwant\nerror: %s", code, stdout, stderr, tc.want)
			}
		})
	}
}

func TestServerAddress(t *testing.T) {
	server := &scripted{ratios: ratios()}
	address := serve(t, server)
	for _, tc := range []struct {
		name, variable string
		args           []string
		want           int
	}{
		{"from the environment", address, nil, exitOK},
		{"the flag wins", "127.0.0.1:1", []string{"--server", address}, exitOK},
		{"the flag wins even if it is wrong", address, []string{"--server", nobody(t)}, exitError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(serverVariable, tc.variable)
			if code, _, stderr := resizectl(t.Context(), append([]string{"ratios", "list"}, tc.args...)...); code != tc.want {
				t.Errorf("exit %d, want %d: %s", code, tc.want, stderr)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	t.Setenv(serverVariable, "")
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"help.txt", nil},
		{"help.txt", []string{"--help"}},
		{"help-ratios.txt", []string{"ratios"}},
		{"help-ratios-list.txt", []string{"ratios", "list", "--help"}},
		{"help-config.txt", []string{"config"}},
		{"help-config-validate.txt", []string{"config", "validate", "--help"}},
		{"help-plan.txt", []string{"help", "plan"}},
		{"help-restore.txt", []string{"restore", "--help"}},
		{"help-pause.txt", []string{"pause", "--help"}},
		{"help-resume.txt", []string{"resume", "--help"}},
		{"help-holds.txt", []string{"holds", "--help"}},
	} {
		code, stdout, stderr := resizectl(t.Context(), tc.args...)
		if code != exitOK || stderr != "" {
			t.Errorf("%q: exit %d, stderr %q", tc.args, code, stderr)
		}
		golden(t, tc.golden, stdout)
	}
}

func TestVersion(t *testing.T) {
	code, stdout, stderr := resizectl(t.Context(), "version")
	if code != exitOK || stderr != "" || !strings.HasPrefix(stdout, "resizectl "+version()+" (go1.") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, stderr := resizectl(t.Context(), "completion", shell); code != exitOK || stdout == "" || stderr != "" {
			t.Errorf("%s: exit %d, %d bytes, stderr %q", shell, code, len(stdout), stderr)
		}
	}
	_, stdout, _ := resizectl(t.Context(), "__complete", "plan", "-o", "")
	if want := strings.Join(formats, "\n") + "\n:4\n"; stdout != want {
		t.Errorf("formats are completed as %q, want %q", stdout, want)
	}
}
