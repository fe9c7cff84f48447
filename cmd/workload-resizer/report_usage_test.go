package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestReportUsage(t *testing.T) {
	t.Run("rejects invalid flags", reportUsageRejectsInvalidFlags)
	t.Run("says what is wrong with the node", saysWhatIsWrongWithTheNode)
	t.Run("accepts the arguments of the DaemonSet", acceptsTheArgumentsOfTheUsageDaemonSet)
	t.Run("reports what containers use to a server", reportsWhatContainersUseToAServer)
}

// reportUsageFails runs the command with arguments that it must refuse.
func reportUsageFails(t *testing.T, says string, args ...string) {
	t.Helper()
	cmd := newCommand()
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetArgs(append([]string{"report-usage"}, args...))
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %q", err, says)
	}
}

func reportUsageRejectsInvalidFlags(t *testing.T) {
	for _, tc := range []struct{ name, args, says string }{
		{"no server", "", "--server: is required"},
		{"an interval below a second", "--server=localhost:1 --usage-sample-interval=999ms", "--usage-sample-interval: must be from 1s to 10s, not 999ms"},
		{"an interval above ten seconds", "--server=localhost:1 --usage-sample-interval=11s", "--usage-sample-interval: must be from 1s to 10s"},
		{"two authorities", "--server=localhost:1 --server-ca-file=a --server-ca-config-map=a/b", "--server-ca-config-map: cannot be combined with --server-ca-file"},
		{"a ConfigMap without a namespace", "--server=localhost:1 --server-ca-config-map=b", `--server-ca-config-map: must be NAMESPACE/NAME, not "b"`},
		{"a ConfigMap with three parts", "--server=localhost:1 --server-ca-config-map=a/b/c", "--server-ca-config-map: must be NAMESPACE/NAME"},
		{"a kubeconfig without a ConfigMap", "--server=localhost:1 --kubeconfig=a", "--kubeconfig: requires --server-ca-config-map"},
		{"a token file that cannot be read", "--server=localhost:1 --token-file=/proc/no/token", "--token-file: open /proc/no/token"},
		{"a ConfigMap outside of a cluster", "--server=localhost:1 --server-ca-config-map=a/b --cgroup-root=" + usageNode(t), "--server-ca-config-map: not running in a cluster"},
	} {
		t.Run(tc.name, func(t *testing.T) { reportUsageFails(t, tc.says, strings.Fields(tc.args)...) })
	}
}

func saysWhatIsWrongWithTheNode(t *testing.T) {
	for _, tc := range []struct{ name, file, says string }{
		{"cgroup v1", "memory/memory.stat", "--cgroup-root: "},
		{"no kubelet", "cgroup.controllers", "no group kubepods or kubepods.slice"},
		{"no cgroup file system", "other", "is no cgroup v2 file system"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			writeFile(t, filepath.Join(root, tc.file), "")
			reportUsageFails(t, tc.says, "--server=localhost:1", "--cgroup-root="+root)
		})
	}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func acceptsTheArgumentsOfTheUsageDaemonSet(t *testing.T) {
	args := daemonSetArgs(t, "report-usage")
	cmd, flags, err := newCommand().Find(args)
	if err != nil || cmd.Name() != "report-usage" {
		t.Fatalf("%v is %s, %v", args, cmd.Name(), err)
	}
	o := &reportUsageOptions{}
	cmd = newReportUsageCommand()
	cmd.ResetFlags()
	o.addTo(cmd.Flags())
	if err := cmd.ParseFlags(flags); err != nil {
		t.Fatal(err)
	}
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	if o.server == "" || o.serverCAConfigMap == "" || o.tokenFile == "" || o.cgroupRoot != "/host/cgroup" {
		t.Errorf("got %+v", o)
	}
}

// usageNode returns the cgroup v2 hierarchy of a node with one container.
func usageNode(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "cgroup.controllers"), "")
	writeFile(t, filepath.Join(root, "kubepods", "pod1", strings.Repeat("a", 64), "cpu.stat"), "usage_usec 5000000\n")
	return root
}

// usageService records what it receives.
type usageService struct {
	workloadresizerv1.UnimplementedUsageServiceServer
	mu  sync.Mutex
	got []*workloadresizerv1.ContainerUsage
}

func (s *usageService) ReportUsage(stream grpc.ClientStreamingServer[workloadresizerv1.ReportUsageRequest, workloadresizerv1.ReportUsageResponse]) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, request.GetUsages()...)
	return stream.SendAndClose(&workloadresizerv1.ReportUsageResponse{Accepted: int64(len(request.GetUsages()))})
}

// The command reports the time since the last report when it ends.
func reportsWhatContainersUseToAServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	service, server := &usageService{}, grpc.NewServer()
	workloadresizerv1.RegisterUsageServiceServer(server, service)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := newCommand()
	cmd.SetErr(writerFunc(func(log []byte) {
		if bytes.Contains(log, []byte(`msg="Reporting the usage of containers" containers=1 interval=1s`)) {
			cancel()
		}
	}))
	cmd.SetArgs([]string{"report-usage", "--server", listener.Addr().String(), "--cgroup-root", usageNode(t), "--usage-sample-interval=1s"})
	if err := cmd.ExecuteContext(ctx); err != nil {
		t.Error(err)
	}
	if len(service.got) != 1 || service.got[0].GetPodUid() != "1" || service.got[0].GetContainerId() != strings.Repeat("a", 64) || service.got[0].CpuCores == nil {
		t.Errorf("got %v", service.got)
	}
}

// writerFunc calls a function with everything that is written.
type writerFunc func([]byte)

func (f writerFunc) Write(content []byte) (int, error) {
	f(content)
	return len(content), nil
}
