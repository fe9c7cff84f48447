package configs

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// validate checks files of testdata, like a user in that directory.
func validate(t *testing.T, stdin io.Reader, files ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir("testdata")
	args := []string{"config", "validate"}
	for _, file := range files {
		args = append(args, "-f", file)
	}
	var out, errOut bytes.Buffer
	code = program(t.Context(), genericiooptions.IOStreams{In: stdin, Out: &out, ErrOut: &errOut}, args)
	return code, out.String(), errOut.String()
}

func TestConfigValidate(t *testing.T) {
	const invalid = `invalid.yaml: nodeTypes.n2d.cpuPerf: line 3: must be a finite number above 0, not "0"
invalid.yaml: overrides[0].match: line 6: must set namespace, computeClass, podLabel or podAnnotation
invalid.yaml: overrides[0].bounds.cpu: line 7: min 2 > max 1
`
	const missing = "error: missing.yaml does not exist: check the name of the file\n"
	for _, tc := range []struct {
		name           string
		files          []string
		code           int
		stdout, stderr string
	}{
		{"checks a bare configuration", []string{"config.yaml"}, command.ExitOK, "config.yaml: valid: 3 node types, 2 rules\n", ""},
		{"checks a ConfigMap among manifests", []string{"manifests.yaml"}, command.ExitOK, "manifests.yaml: valid: 1 node type, 0 rules\n", ""},
		{"prints one fault per line", []string{"invalid.yaml"}, command.ExitInvalid, "", invalid},
		{"checks all files", []string{"invalid.yaml", "config.yaml"}, command.ExitInvalid, "config.yaml: valid: 3 node types, 2 rules\n", invalid},
		{"distinguishes several ConfigMaps, with the lines of the file", []string{"manifests-invalid.yaml"}, command.ExitInvalid,
			"manifests-invalid.yaml: ConfigMap a/two: valid: 1 node type, 0 rules\n",
			`manifests-invalid.yaml: ConfigMap a/one: nodeTypes.n4.cpuPerf: line 11: must be a finite number above 0, not "fast"` + "\n" +
				`manifests-invalid.yaml: ConfigMap a/three: data["config.yaml"]: line 26: must be text, as after "config.yaml: |"` + "\n"},
		{"rejects manifests without a configuration", []string{"no-config.yaml"}, command.ExitInvalid, "", "no-config.yaml: none of the manifests is a ConfigMap with the key config.yaml\n"},
		{"rejects a ConfigMap whose keys are set twice", []string{"manifests-twice.yaml"}, command.ExitInvalid, "",
			`manifests-twice.yaml: ConfigMap a/one: line 10: mapping key "config.yaml" already defined at line 5` + "\n" +
				`manifests-twice.yaml: ConfigMap a/two: line 22: mapping key "data" already defined at line 18` + "\n"},
		{"rejects invalid YAML", []string{"no-yaml.yaml"}, command.ExitInvalid, "", "no-yaml.yaml: read YAML: yaml: line 4: found a tab character where an indentation space is expected\n"},
		{"fails for a missing file", []string{"missing.yaml"}, command.ExitError, "", missing},
		{"fails for a missing file after checking the others", []string{"missing.yaml", "invalid.yaml", "config.yaml"}, command.ExitError, "config.yaml: valid: 3 node types, 2 rules\n", invalid + missing},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := validate(t, nil, tc.files...)
			if code != tc.code || stdout != tc.stdout || stderr != tc.stderr {
				t.Errorf("exit %d, stdout\n%s\nstderr\n%s\nwant exit %d,\n%s\n%s", code, stdout, stderr, tc.code, tc.stdout, tc.stderr)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Run("checks a List", checksAList)
	t.Run("reads standard input", readsStandardInput)
	t.Run("accepts the deployed sample", acceptsTheDeployedSample)
	t.Run("ends while it waits for standard input", endsWhileItWaitsForStandardInput)
	t.Run("fails if the output cannot be written", failsIfTheOutputCannotBeWritten)
}

func checksAList(t *testing.T) {
	t.Chdir("testdata")
	for _, tc := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"checks only the ConfigMap of the server", nil, command.ExitOK, "list.yaml: valid: 1 node type, 0 rules\n", ""},
		{"checks the ConfigMap that is named", []string{"--config-name", "other"}, command.ExitInvalid, "",
			"list.yaml: nodeTypes.n4.cpuPerf: line 12: must be a finite number above 0, not \"fast\"\n"},
		{"checks all ConfigMaps if none has the name", []string{"--config-name", "none"}, command.ExitInvalid, "list.yaml: ConfigMap b/workload-resizer-config: valid: 1 node type, 0 rules\n",
			"list.yaml: ConfigMap a/other: nodeTypes.n4.cpuPerf: line 12: must be a finite number above 0, not \"fast\"\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"config", "validate", "-f", "list.yaml"}, tc.args...)...)
			if code != tc.code || stdout != tc.stdout || stderr != tc.stderr {
				t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

func readsStandardInput(t *testing.T) {
	for _, tc := range []struct {
		name, text     string
		code           int
		stdout, stderr string
	}{
		{"a valid configuration", "baselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}}", command.ExitOK, "stdin: valid: 1 node type, 0 rules\n", ""},
		{"an implausible ratio", "baselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}, b: {cpuPerf: 125, memPerf: 1}}", command.ExitInvalid, "",
			"stdin: nodeTypes.b: b would be 125 times as fast as a for cpu, beyond maxSpeedRatio 5: correct the ratio of b (from config.yaml) or of a (from config.yaml), or raise maxSpeedRatio in config.yaml\n"},
		{"a large ratio that is allowed", "maxSpeedRatio: 125\nbaselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}, b: {cpuPerf: 125, memPerf: 1}}", command.ExitOK, "stdin: valid: 2 node types, 0 rules\n", ""},
		{"quoted numbers", "maxSpeedRatio: \"6\"\nbaselineNodeType: a\nnodeTypes: {a: {cpuPerf: '1.25', memPerf: 1}}", command.ExitInvalid, "",
			"stdin: maxSpeedRatio: line 1: must be a finite number of at least 1, such as 5, not a string: write 6 without quotes\n" +
				"stdin: nodeTypes.a.cpuPerf: line 3: must be a finite number above 0, not a string: write 1.25 without quotes\n"},
		{"a guard with a zone", "baselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}}\nguard: {schedule: [{from: \"22:00\", to: \"06:00\", zone: Europe/Berlin}]}", command.ExitOK, "stdin: valid: 1 node type, 0 rules\n", ""},
		{"an unknown zone", "baselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}}\nguard: {schedule: [{from: \"22:00\", to: \"06:00\", zone: Europe/Berlim}]}", command.ExitInvalid, "",
			"stdin: guard.schedule[0].zone: line 3: must be the name of a time zone in the IANA database, such as Europe/Berlin or UTC, not \"Europe/Berlim\"\n"},
		{"empty input", "", command.ExitInvalid, "", "stdin: the configuration is empty\n"},
		{"control characters", "baselineNodeType: \"\\e[31m\"\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}}", command.ExitInvalid, "", "stdin: baselineNodeType: line 1: \"\\x1b[31m\" is not one of the nodeTypes\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := validate(t, strings.NewReader(tc.text), "-")
			if code != tc.code || stdout != tc.stdout || stderr != tc.stderr {
				t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

func acceptsTheDeployedSample(t *testing.T) {
	file, err := filepath.Abs("../../../deploy/samples/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := validate(t, nil, file); code != command.ExitOK || stdout != file+": valid: 3 node types, 0 rules\n" || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func endsWhileItWaitsForStandardInput(t *testing.T) {
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer typed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut bytes.Buffer
	code := program(ctx, genericiooptions.IOStreams{In: in, Out: &out, ErrOut: &errOut}, []string{"config", "validate", "-f", "-"})
	if code != command.ExitInterrupted || out.Len() != 0 || errOut.Len() != 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, &out, &errOut)
	}
}

func failsIfTheOutputCannotBeWritten(t *testing.T) {
	var errOut bytes.Buffer
	streams := genericiooptions.IOStreams{Out: cmdtest.FullDisk{}, ErrOut: &errOut}
	code := program(t.Context(), streams, []string{"config", "validate", "-f", "testdata/config.yaml"})
	if code != command.ExitError || !strings.Contains(errOut.String(), "no space left on device") {
		t.Errorf("exit %d, stderr %q", code, &errOut)
	}
}
