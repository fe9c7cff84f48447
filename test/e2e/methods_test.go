package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var update = flag.Bool("update", false, "update the recorded answers of the methods")

func TestMethods(t *testing.T) {
	t.Parallel()
	t.Run("programs in any language can call every method", programsInAnyLanguageCanCallEveryMethod)
}

// programsInAnyLanguageCanCallEveryMethod calls a server with grpcurl, which knows only what
// reflection returns.
func programsInAnyLanguageCanCallEveryMethod(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.apply(t, []byte(methodsConfig))
	p.namespace(t, "users")
	// Without production, which suggests something at the next full hour.
	c := &caller{server: p.servePlain(t, append(ownedByConfigMaps, "--usage-sources=push",
		"--ratio-sources=override,configmap,benchmark")...), tokens: map[string]string{
		"viewer": p.person(t, "users", "viewer", "workload-resizer-viewer"),
		"nobody": p.tokenFile(t, "users", "default", nil),
	}}
	for _, nodeType := range []string{"n2d", "n4", "x9"} {
		if err := p.create(t.Context(), nodeType+"-0", nodeType); err != nil {
			t.Fatal(err)
		}
	}
	localcluster.Eventually(t, "the pods to be settled", func() error {
		status, err := c.server.api.Status(t.Context())
		if err != nil {
			return err
		}
		resize, err := c.server.api.GetResize(t.Context(), metav1.NamespaceDefault, "n4-0")
		if err != nil {
			return err
		}
		decided := map[workloadresizerv1.Decision]int64{}
		for _, count := range status.GetPods() {
			decided[count.GetDecision()] += count.GetPods()
		}
		want := map[workloadresizerv1.Decision]int64{workloadresizerv1.Decision_DECISION_ALIGNED: 2, workloadresizerv1.Decision_DECISION_SKIP: 1}
		if diff := cmp.Diff(want, decided); diff != "" || status.GetQueueLength() > 0 || resize.GetState() != workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED {
			return fmt.Errorf("%d are queued, the resize is %s, and decisions differ: %s", status.GetQueueLength(), resize.GetState(), diff)
		}
		return nil
	})
	p.awaitSettled(t, c.server, metav1.NamespaceDefault)

	pod, err := p.client.CoreV1().Pods(metav1.NamespaceDefault).Get(t.Context(), "n2d-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.use(t, pod)

	t.Run("good and bad requests are answered as recorded", c.recorded)
	t.Run("methods of the old API have the names of the new ones", c.moved)
}

// methodsConfig observes pods for longer, since their plans say more then.
var methodsConfig = strings.Replace(planeConfig, "guard: {", "guard: {window: 1h, ", 1) + `
    overrides:
    - name: critical
      match: {podLabel: {tier: critical}}
      nodeTypes:
        n4: {cpuPerf: 1.2, memPerf: 1}
`

// use reports what the container of a pod used, and waits until that is stored.
func (c *caller) use(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	usage := fmt.Sprintf(`{"usages": [{"pod_uid": %q, "container": "app", "end_time": %q, "measure_duration": "60s", "cpu_cores": 0.5, "memory_peak_bytes": 104857600}]}`, pod.UID, time.Now().UTC().Format(time.RFC3339))
	localcluster.Eventually(t, "the server to collect usage", func() error {
		if code, answer := c.grpcurl(t, methodCall{Method: "UsageService/ReportUsage", Messages: []json.RawMessage{json.RawMessage(usage)}}); code != codes.OK.String() {
			return fmt.Errorf("%s: %s", code, answer)
		}
		return nil
	})
	localcluster.Eventually(t, "stored history", func() error {
		status, err := c.server.api.GetUsageStatus(t.Context())
		if err != nil {
			return err
		}
		if shards := status.GetStorage().GetShards(); len(shards) != 1 || shards[0].GetContainers() != 1 || status.GetRecommendations() != 1 {
			return fmt.Errorf("%v", status)
		}
		return nil
	})
}

// recorded makes the calls of testdata/calls.yaml, and compares requests and answers with a file per
// method.
func (c *caller) recorded(t *testing.T) {
	records, good, bad := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, call := range methodCalls(t) {
		code, answer := c.grpcurl(t, call)
		if code == codes.OK.String() {
			good[call.Method] = true
		} else {
			bad[call.Method] = true
		}
		records[call.Method] += fmt.Sprintf("# %s\n\n%s\n\n%s\n%s\n\n", call, normal(indented(t, call.Messages)), code, normal(answer))
	}
	for _, method := range apiMethods() {
		if !good[method] || !bad[method] {
			t.Errorf("%s: calls that succeed: %t, calls that fail: %t", method, good[method], bad[method])
		}
		file := filepath.Join("testdata", "methods", strings.ReplaceAll(method, "/", ".")+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(records[method]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		recorded, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(recorded), records[method]); diff != "" {
			t.Errorf("%s differs:\n%s", file, diff)
		}
	}
	if files, err := filepath.Glob(filepath.Join("testdata", "methods", "*")); err != nil || len(files) != len(apiMethods()) {
		t.Errorf("testdata/methods has files of methods that do not exist: %q, %v", files, err)
	}
}

// moved calls the methods of the old API as a client does that was generated before the methods
// got new names: with the definitions of that time, and without reflection.
func (c *caller) moved(t *testing.T) {
	const update, hold = `{"ratio": {"node_type": "n4", "cpu_perf": 2, "memory_perf": 1}}`, `{"scope": {"all_namespaces": true}, "reason": "load test"}`
	for _, tc := range []struct{ old, request, successor string }{
		{"RatioService/UpdateRatio", update, "OverrideService.UpdateOverride"},
		{"RatioService/BatchUpdateRatios", `{}`, "OverrideService.BatchUpdateOverrides"},
		{"RatioService/DeleteRatio", `{}`, "OverrideService.DeleteOverride"},
		{"RatioService/ListRatioChanges", `{}`, "OverrideService.ListOverrideChanges"},
		{"RatioService/RollbackRatios", `{}`, "OverrideService.RollbackOverrides"},
		{"ResizeService/Restore", hold, "HoldService.Restore"},
		{"ResizeService/GetStatus", `{}`, "StatusService.GetStatus"},
		{"PauseService/Pause", hold, "HoldService.Pause"},
		{"PauseService/Resume", hold, "HoldService.Resume"},
		{"PauseService/ListHolds", `{}`, "HoldService.ListHolds"},
		{"PauseService/Freeze", `{}`, "HoldService.Freeze"},
		{"PauseService/Unfreeze", `{}`, "HoldService.Unfreeze"},
		{"PauseService/GetFreeze", `{}`, "HoldService.GetFreeze"},
	} {
		t.Run(tc.old, func(t *testing.T) {
			code, answer := c.grpcurl(t, methodCall{Method: tc.old, Messages: []json.RawMessage{json.RawMessage(tc.request)}}, "-import-path", "testdata", "-proto", "old.proto")
			var got struct{ Message string }
			if err := json.Unmarshal([]byte(answer), &got); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(tc.old, "/", ".", 1) + " is now " + tc.successor + "; generate your client again from the current API"
			if code != "Unimplemented" || got.Message != want {
				t.Errorf("%s: %q, want %q", code, got.Message, want)
			}
		})
	}
}

// apiMethods returns the methods of the API, e.g. "RatioService/GetRatio".
func apiMethods() []string {
	var all []string
	api := workloadresizerv1.File_workloadresizer_v1_ratio_proto.Package()
	protoregistry.GlobalFiles.RangeFilesByPackage(api, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				all = append(all, fmt.Sprintf("%s/%s", service.Name(), service.Methods().Get(j).Name()))
			}
		}
		return true
	})
	return all
}

// methodCall is one call of a method.
type methodCall struct {
	Method string
	// Rule is what the call shows.
	Rule string
	// As is the caller; empty for a caller on this machine without credentials.
	As string
	// Messages are the request, or all requests of a stream.
	Messages []json.RawMessage
}

// methodCalls reads the calls of testdata/calls.yaml.
func methodCalls(t *testing.T) (calls []methodCall) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "calls.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.ReplaceAll(content, []byte("NOW"), []byte(time.Now().UTC().Format(time.RFC3339)))
	if err := yaml.UnmarshalStrict(content, &calls); err != nil {
		t.Fatal(err)
	}
	return calls
}

// String returns what the call shows, and its caller.
func (c methodCall) String() string {
	if c.As == "" {
		return c.Rule
	}
	return c.Rule + " (as " + c.As + ")"
}

// caller calls a server with grpcurl.
type caller struct {
	server *server
	// tokens are files with the tokens of callers.
	tokens map[string]string
}

// grpcurl makes a call with more flags of grpcurl, and returns the name of the status and the
// answer.
func (c *caller) grpcurl(t *testing.T, call methodCall, flags ...string) (code, answer string) {
	t.Helper()
	args := append([]string{"-plaintext", "-format-error", "-d", indented(t, call.Messages)}, flags...)
	if call.As != "" {
		token, err := os.ReadFile(c.tokens[call.As])
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "-rpc-header", "authorization: Bearer "+string(token))
	}
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	binary, err := localcluster.Binary("grpcurl")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, binary, append(args, c.server.GRPCAddress, "workloadresizer.v1."+call.Method)...)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answer, watching, err := untilBookmark(out)
	if watching {
		cancel()
	}
	switch ended := cmd.Wait(); {
	case err != nil:
		t.Fatalf("%s, %s: %v", call.Method, call.Rule, err)
	case watching || ended == nil:
		return codes.OK.String(), answer
	}
	var status struct{ Code codes.Code }
	if err := json.Unmarshal(failed.Bytes(), &status); err != nil {
		t.Fatalf("%s, %s: %v in %s", call.Method, call.Rule, err, failed.String())
	}
	return status.Code.String(), answer + strings.TrimSpace(failed.String())
}

// untilBookmark reads messages until their end, or until the first bookmark of a watch, which does
// not end.
func untilBookmark(from io.Reader) (text string, bookmark bool, err error) {
	for messages := json.NewDecoder(from); ; {
		var message json.RawMessage
		if err := messages.Decode(&message); errors.Is(err, io.EOF) {
			return strings.TrimSpace(text), false, nil
		} else if err != nil {
			return text, false, err
		}
		text += string(message) + "\n"
		var event struct{ Type string }
		if err := json.Unmarshal(message, &event); err == nil && event.Type == workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK.String() {
			return strings.TrimSpace(text), true, nil
		}
	}
}

// indented returns the text of messages, each on lines of its own.
func indented(t *testing.T, messages []json.RawMessage) string {
	t.Helper()
	var text bytes.Buffer
	for _, message := range messages {
		if err := json.Indent(&text, message, "", "  "); err != nil {
			t.Fatal(err)
		}
		text.WriteByte('\n')
	}
	return strings.TrimSpace(text.String())
}

// varying has the parts of requests and answers that are different each time.
var varying = regexp.MustCompile(`"(uid|nextPageToken|resumeToken|revision|ratioRevision|replica|identity|version)": "[^"]+"` +
	`|"bytes": "\d+"|"(etag|ratioEtag)": "[0-9a-f]{16}"|"(cpu|memory)DecreaseMessage": "\d+ minutes? of[^"]+"|"\d{4}-\d\d-\d\dT[0-9:.]+Z"`)

// normal returns the text with constant words instead of these parts.
func normal(text string) string {
	return varying.ReplaceAllStringFunc(text, func(match string) string {
		if key, _, ok := strings.Cut(match, `": "`); ok {
			return key + `": "…"`
		}
		return `"TIME"`
	})
}
