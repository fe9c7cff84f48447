package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// patience is how long the virtual machine may take: it is emulated.
const patience = 9 * time.Minute

// serverName is the name in the certificate of the server.
const serverName = "workload-resizer." + deploy.Namespace + ".svc"

func main() {
	kernel := flag.String("kernel", "bin/kernel", "folder with vmlinuz and modules")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := run(ctx, *kernel); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
	fmt.Println("PASS")
}

// run runs the server and the virtual machine until the server shows what its containers use.
func run(ctx context.Context, kernel string) (err error) {
	dir, err := os.MkdirTemp("", "agent-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cluster, err := localcluster.Up(ctx, localcluster.Options{Dir: filepath.Join(dir, "cluster")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Down()) }()
	n, err := newNode(ctx, cluster, dir)
	if err != nil {
		return err
	}
	certificate, err := localcluster.ServingCertificate(dir, serverName)
	if err != nil {
		return err
	}
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(ctx, cluster.Config(), deploy.Namespace, deploy.ServiceAccount, dir)
	if err != nil {
		return err
	}
	server, err := localcluster.StartServer(ctx, localcluster.ServerOptions{Kubeconfig: kubeconfig, Args: []string{
		"--tls-cert-file", certificate.CertFile, "--tls-private-key-file", certificate.KeyFile, "--usage-sources=push",
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	api, err := client.Dial(server.GRPCAddress, client.WithCAFile(certificate.CertFile), client.WithTokenFile(n.viewerToken))
	if err != nil {
		return err
	}
	defer func() { _ = api.Close() }()
	machine, err := boot(ctx, kernel, dir, n, server.GRPCAddress, certificate.CertFile)
	if err != nil {
		return err
	}
	defer machine.end()
	if err := machine.until(ctx, "usage of both containers", func() error { return check(ctx, api) }); err != nil {
		return err
	}
	return show(ctx, server.GRPCAddress, certificate.CertFile, n.viewerToken)
}

// check checks what the server shows.
func check(ctx context.Context, api *client.Client) error {
	status, err := api.GetUsageStatus(ctx)
	if err != nil {
		return err
	}
	for _, source := range status.GetSources() {
		if source.GetName() == "push" && (source.GetCounted() == 0 || source.GetRejected() > 0) {
			return fmt.Errorf("pushed: %v", source)
		}
		if source.GetName() != "push" && source.GetCounted() > 0 {
			return fmt.Errorf("not pushed: %v", source)
		}
	}
	list, err := api.ListRecommendations(ctx, &workloadresizerv1.ListRecommendationsRequest{Namespace: namespace})
	if err != nil {
		return err
	}
	used := map[string]*workloadresizerv1.ResourceAmounts{}
	for _, r := range list.GetRecommendations() {
		if used[r.GetContainer()] = r.GetBaseline().GetUsed(); r.GetBaseline() == nil {
			return fmt.Errorf("%s: %s", r.GetContainer(), r.GetUnknownMessage())
		}
	}
	if cpu := amount(used["burn"].GetCpu()); cpu < 0.15 || cpu > 0.25 {
		return fmt.Errorf("%v cores of a container whose limit is 0.2", cpu)
	}
	if memory := amount(used["hold"].GetMemory()); memory < 60<<20 || memory > 100<<20 {
		return fmt.Errorf("%v bytes of a container that holds 64 MiB", memory)
	}
	return nil
}

func amount(text string) float64 {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return -1
	}
	return q.AsApproximateFloat64()
}

// show prints what users see.
func show(ctx context.Context, address, authority, token string) error {
	for _, args := range [][]string{{"usage", "sources"}, {"usage", "-n", namespace, "-o", "wide"}} {
		fmt.Println("$ resizectl", args)
		cmd := exec.CommandContext(ctx, "bin/resizectl", append(args, "--server", address, "--certificate-authority", authority, "--token-file", token)...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("resizectl %v: %w", args, err)
		}
	}
	return nil
}

// until waits for a condition while the virtual machine runs.
func (m *machine) until(ctx context.Context, what string, try func() error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(context.Context) (bool, error) {
		select {
		case <-m.ended:
			return false, fmt.Errorf("the virtual machine has ended")
		default:
		}
		last = try()
		return last == nil, nil
	})
	if err != nil {
		_, _ = io.Copy(os.Stderr, m.log())
		return fmt.Errorf("wait for %s: %w: %w", what, err, last)
	}
	return nil
}
