package clients

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/file"
	"github.com/workload-resizer/workload-resizer/server/standalone"
)

const config = `baselineNodeType: n2d
nodeTypes:
  n2d: {cpuPerf: 1, memPerf: 1}
  n4: {cpuPerf: 1.25, memPerf: 1.5}
`

// want is what each client prints: the ratios, and the code of an error of a server without
// overrides.
const want = `n2d 1 1
n4 1.25 1.5
Unimplemented
`

// serve starts a server, waits until it is ready, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- standalone.Run(ctx, standalone.Config{Source: file.Text(config), GRPC: listener}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	address := listener.Addr().String()
	c, err := client.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	// This client retries until the server has read its configuration.
	if _, err := c.ListRatios(t.Context()); err != nil {
		t.Fatal(err)
	}
	return address
}

// Each client lists ratios in pages, and reads the code of an error.
func TestGo(t *testing.T)         { check(t, listInGo) }
func TestTypeScript(t *testing.T) { check(t, listInTypeScript) }

func check(t *testing.T, list func(t *testing.T, address string) string) {
	t.Helper()
	if got := list(t, serve(t)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// listInGo does the same as typescript/src/ratios.ts.
func listInGo(t *testing.T, address string) string {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var text strings.Builder
	ratios := workloadresizerv1.NewRatioServiceClient(conn)
	for request := (&workloadresizerv1.ListRatiosRequest{PageSize: 1}); ; {
		page, err := ratios.ListRatios(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, ratio := range page.GetRatios() {
			fmt.Fprintln(&text, ratio.GetNodeType(), ratio.GetCpuPerf(), ratio.GetMemoryPerf())
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	_, err = workloadresizerv1.NewOverrideServiceClient(conn).ListOverrides(t.Context(), &workloadresizerv1.ListOverridesRequest{})
	fmt.Fprintln(&text, status.Code(err))
	return text.String()
}

func listInTypeScript(t *testing.T, address string) string {
	t.Helper()
	program := filepath.Join("..", "..", "bin", "typescript", "dist", "ratios.js")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v: run \"make bin/typescript\"", err)
	}
	var problems strings.Builder
	cmd := exec.CommandContext(t.Context(), "node", program, address)
	cmd.Stderr = &problems
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &problems)
	}
	return string(text)
}
