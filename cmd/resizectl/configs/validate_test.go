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

// validate checks files of testdata, as a person in that folder would.
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
	const invalid = `invalid.yaml: nodeTypes.n2d.cpuPerf: line 3: want a finite number above 0, got "0"
invalid.yaml: overrides[0].match: line 6: must name a computeClass, a podLabel or a podAnnotation
invalid.yaml: overrides[0].bounds.cpu: min 2 > max 1
`
	const missing = "error: read the configuration: open missing.yaml: no such file or directory\n"
	for _, tc := range []struct {
		name           string
		files          []string
		code           int
		stdout, stderr string
	}{
		{"a bare configuration", []string{"config.yaml"}, command.ExitOK, "config.yaml: valid: 3 node types, 2 rules\n", ""},
		{"a ConfigMap among manifests", []string{"manifests.yaml"}, command.ExitOK, "manifests.yaml: valid: 1 node type, 0 rules\n", ""},
		{"a fault per line", []string{"invalid.yaml"}, command.ExitInvalid, "", invalid},
		{"all files are checked", []string{"invalid.yaml", "config.yaml"}, command.ExitInvalid, "config.yaml: valid: 3 node types, 2 rules\n", invalid},
		{"several ConfigMaps are told apart, and lines are those of the file", []string{"manifests-invalid.yaml"}, command.ExitInvalid,
			"manifests-invalid.yaml: ConfigMap a/two: valid: 1 node type, 0 rules\n",
			`manifests-invalid.yaml: ConfigMap a/one: nodeTypes.n4.cpuPerf: line 11: want a finite number above 0, got "fast"` + "\n" +
				`manifests-invalid.yaml: ConfigMap a/three: data["config.yaml"]: line 26: want a text, as after "config.yaml: |"` + "\n"},
		{"manifests without a configuration", []string{"no-config.yaml"}, command.ExitInvalid, "", "no-config.yaml: none of the manifests is a ConfigMap with the key config.yaml\n"},
		{"no YAML", []string{"no-yaml.yaml"}, command.ExitInvalid, "", "no-yaml.yaml: read YAML: yaml: line 4: found a tab character where an indentation space is expected\n"},
		{"a file that is not there", []string{"missing.yaml"}, command.ExitError, "", missing},
		{"a file that is not there among others", []string{"missing.yaml", "invalid.yaml", "config.yaml"}, command.ExitError, "config.yaml: valid: 3 node types, 2 rules\n", invalid + missing},
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
	t.Run("config validate of a list", configValidateOfAList)
	t.Run("config validate reads standard input", configValidateReadsStandardInput)
	t.Run("config validate of the sample that is deployed", configValidateOfTheSampleThatIsDeployed)
	t.Run("config validate ends while it waits for standard input", configValidateEndsWhileItWaitsForStandardInput)
	t.Run("config validate whose output cannot be written is an error", configValidateWhoseOutputCannotBeWrittenIsAnError)
}

func configValidateOfAList(t *testing.T) {
	t.Chdir("testdata")
	for _, tc := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"the ConfigMap of the server alone", nil, command.ExitOK, "list.yaml: valid: 1 node type, 0 rules\n", ""},
		{"the one that is named", []string{"--config-name", "other"}, command.ExitInvalid, "",
			"list.yaml: nodeTypes.n4.cpuPerf: line 12: want a finite number above 0, got \"fast\"\n"},
		{"all, if none has the name", []string{"--config-name", "none"}, command.ExitInvalid, "list.yaml: ConfigMap b/workload-resizer-config: valid: 1 node type, 0 rules\n",
			"list.yaml: ConfigMap a/other: nodeTypes.n4.cpuPerf: line 12: want a finite number above 0, got \"fast\"\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"config", "validate", "-f", "list.yaml"}, tc.args...)...)
			if code != tc.code || stdout != tc.stdout || stderr != tc.stderr {
				t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

func configValidateReadsStandardInput(t *testing.T) {
	for _, tc := range []struct {
		name, text     string
		code           int
		stdout, stderr string
	}{
		{"valid", "baselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}}", command.ExitOK, "stdin: valid: 1 node type, 0 rules\n", ""},
		{"nothing", "", command.ExitInvalid, "", "stdin: the configuration is empty\n"},
		{"control characters are taken out", "baselineNodeType: \"\\e[31m\"\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}}", command.ExitInvalid, "", "stdin: baselineNodeType: \"\\x1b[31m\" is not one of the nodeTypes\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := validate(t, strings.NewReader(tc.text), "-")
			if code != tc.code || stdout != tc.stdout || stderr != tc.stderr {
				t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

func configValidateOfTheSampleThatIsDeployed(t *testing.T) {
	file, err := filepath.Abs("../../../deploy/samples/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := validate(t, nil, file); code != command.ExitOK || stdout != file+": valid: 3 node types, 0 rules\n" || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func configValidateEndsWhileItWaitsForStandardInput(t *testing.T) {
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

func configValidateWhoseOutputCannotBeWrittenIsAnError(t *testing.T) {
	var errOut bytes.Buffer
	streams := genericiooptions.IOStreams{Out: cmdtest.FullDisk{}, ErrOut: &errOut}
	code := program(t.Context(), streams, []string{"config", "validate", "-f", "testdata/config.yaml"})
	if code != command.ExitError || !strings.Contains(errOut.String(), "no space left on device") {
		t.Errorf("exit %d, stderr %q", code, &errOut)
	}
}
