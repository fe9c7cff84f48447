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

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var update = flag.Bool("update", false, "update the recorded answers of the methods")

func TestMethods(t *testing.T) {
	t.Run("programs in any language can call every method", programsInAnyLanguageCanCallEveryMethod)
}

// programsInAnyLanguageCanCallEveryMethod calls a server with grpcurl, which knows only what
// reflection returns.
func programsInAnyLanguageCanCallEveryMethod(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.apply(t, []byte(methodsConfig))
	p.namespace(t, "users")
	c := &caller{server: p.servePlain(t, ownedByNodes...), tokens: map[string]string{
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

	t.Run("good and bad requests are answered as recorded", c.recorded)
	t.Run("methods of the old API have the names of the new ones", c.moved)
}

const methodsConfig = planeConfig + `
    overrides:
    - name: critical
      match: {podLabel: {tier: critical}}
      nodeTypes:
        n4: {cpuPerf: 1.2, memPerf: 1}
`

// recorded makes the calls of methodCalls, and compares requests and answers with a file per
// method.
func (c *caller) recorded(t *testing.T) {
	records, good, bad := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, call := range methodCalls {
		code, answer := c.grpcurl(t, call)
		if code == codes.OK.String() {
			good[call.method] = true
		} else {
			bad[call.method] = true
		}
		records[call.method] += fmt.Sprintf("# %s\n\n%s\n\n%s\n%s\n\n", call, normal(indented(t, call.request)), code, normal(answer))
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
	method string
	// rule is what the call shows.
	rule string
	// request has the JSON of the request, or of all messages of a stream.
	request string
	// as is the caller; empty for a caller on this machine without credentials.
	as string
}

// String returns what the call shows, and its caller.
func (c methodCall) String() string {
	if c.as == "" {
		return c.rule
	}
	return c.rule + " (as " + c.as + ")"
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
	args := append([]string{"-plaintext", "-format-error", "-d", call.request}, flags...)
	if call.as != "" {
		token, err := os.ReadFile(c.tokens[call.as])
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
	cmd := exec.CommandContext(ctx, binary, append(args, c.server.GRPCAddress, "workloadresizer.v1."+call.method)...)
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
		t.Fatalf("%s, %s: %v", call.method, call.rule, err)
	case watching || ended == nil:
		return codes.OK.String(), answer
	}
	var status struct{ Code codes.Code }
	if err := json.Unmarshal(failed.Bytes(), &status); err != nil {
		t.Fatalf("%s, %s: %v in %s", call.method, call.rule, err, failed.String())
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

// indented returns the messages of a request, each on lines of its own.
func indented(t *testing.T, request string) string {
	t.Helper()
	var all bytes.Buffer
	for messages := json.NewDecoder(strings.NewReader(request)); ; {
		var message json.RawMessage
		if err := messages.Decode(&message); errors.Is(err, io.EOF) {
			return strings.TrimSpace(all.String())
		} else if err != nil {
			t.Fatalf("%v in %s", err, request)
		}
		if err := json.Indent(&all, message, "", "  "); err != nil {
			t.Fatal(err)
		}
		all.WriteByte('\n')
	}
}

// varying has the parts of requests and answers that are different each time.
var varying = regexp.MustCompile(`"(uid|nextPageToken|resumeToken|revision|ratioRevision|replica|identity|version)": "[^"]+"` +
	`|"(etag|ratioEtag)": "[0-9a-f]{16}"|"\d{4}-\d\d-\d\dT[0-9:.]+Z"`)

// normal returns a text with constant words instead of these parts.
func normal(text string) string {
	return varying.ReplaceAllStringFunc(text, func(match string) string {
		if key, _, ok := strings.Cut(match, `": "`); ok {
			return key + `": "…"`
		}
		return `"TIME"`
	})
}
