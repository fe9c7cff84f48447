package localcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// stopGrace is how long a server may take to end after SIGTERM. It is longer than the
	// server allows its pending writes to take.
	stopGrace = 40 * time.Second
	// probeTimeout is the timeout of a probe of a server.
	probeTimeout = 5 * time.Second
	// logTail is how many lines of a server's log an error shows.
	logTail = 20
)

// ServerOptions configure a server. Kubeconfig or Container is required.
type ServerOptions struct {
	// Kubeconfig is the path of the kubeconfig that the server uses.
	Kubeconfig string
	// Container, if set, is the environment in which the server runs instead.
	Container *Container
	// Program is the name of the server's program in bin; empty for workload-resizer.
	Program string
	// GRPCAddress and HTTPAddress are the addresses to listen on, host:port. If they are
	// empty, the server uses free ports on loopback.
	GRPCAddress, HTTPAddress string
	// Args are additional flags of "workload-resizer serve". Env are additional environment
	// variables, NAME=VALUE.
	Args, Env []string
	// Log receives a copy of the log, unless it is nil.
	Log io.Writer
}

// Server is a running bin/workload-resizer.
type Server struct {
	// GRPCAddress is the address of the API, and HTTPAddress is the address of probes and
	// metrics, host:port.
	GRPCAddress, HTTPAddress string

	process *os.Process
	log     *tailBuffer
	// terminate asks the server to end, only once: a second signal would end it immediately.
	terminate func() error
	done      chan struct{}
	err       error
}

// StartServer starts a server without waiting until it is ready. The server is asked to end
// when ctx is done, and dies with this process.
func StartServer(ctx context.Context, options ServerOptions) (*Server, error) {
	s := &Server{log: newTailBuffer(), done: make(chan struct{})}
	command, err := s.command(options)
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	started := make(chan error)
	go func() {
		s.err = runTied(command, started)
		close(s.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	s.process = command.Process
	s.terminate = sync.OnceValue(func() error { return ignoreEnded(s.process.Signal(syscall.SIGTERM)) })
	asked := context.AfterFunc(ctx, func() {
		// A process that cannot be signaled has ended.
		_ = s.terminate()
	})
	go func() {
		<-s.done
		asked()
	}()
	return s, nil
}

func (s *Server) command(options ServerOptions) (*exec.Cmd, error) {
	var err error
	for _, address := range []struct {
		given  string
		chosen *string
	}{{options.GRPCAddress, &s.GRPCAddress}, {options.HTTPAddress, &s.HTTPAddress}} {
		*address.chosen = address.given
		if address.given != "" {
			continue
		}
		if *address.chosen, err = FreeAddress(""); err != nil {
			return nil, err
		}
	}
	var command *exec.Cmd
	if options.Container != nil {
		command, err = options.Container.command(s.GRPCAddress, s.HTTPAddress, options.Args)
	} else {
		command, err = s.onThisMachine(options)
	}
	if err != nil {
		return nil, err
	}
	command.Env = append(command.Environ(), options.Env...)
	command.Stdout = s.log
	if options.Log != nil {
		command.Stdout = io.MultiWriter(s.log, options.Log)
	}
	command.Stderr = command.Stdout
	// Ctrl-C in a terminal must signal only this process, which then ends the server.
	command.SysProcAttr.Setpgid = true
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return command, nil
}

// onThisMachine returns a command that runs a server with a kubeconfig, as users do outside of
// a cluster.
func (s *Server) onThisMachine(options ServerOptions) (*exec.Cmd, error) {
	binary, err := Binary(cmp.Or(options.Program, "workload-resizer"))
	if err != nil {
		return nil, err
	}
	command := exec.Command(binary, append([]string{
		"serve", "--kubeconfig", options.Kubeconfig,
		// A new server waits until the lease of a killed one expires.
		"--leader-lease-duration", "3s",
		"--grpc-bind-address", s.GRPCAddress, "--http-bind-address", s.HTTPAddress,
	}, options.Args...)...)
	command.SysProcAttr = &syscall.SysProcAttr{}
	return command, nil
}

// PID returns the PID of the server.
func (s *Server) PID() int { return s.process.Pid }

// Done returns a channel that is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Log returns the log so far, or the end of a very long log.
func (s *Server) Log() string { return s.log.String() }

// Stop asks the server to end and waits for it. It returns an error if the server did not exit
// cleanly.
func (s *Server) Stop() error {
	if err := s.terminate(); err != nil {
		return err
	}
	select {
	case <-s.done:
		return s.err
	case <-time.After(stopGrace):
		return errors.Join(fmt.Errorf("the server still runs %v after SIGTERM and is killed", stopGrace), s.Kill())
	}
}

// Kill ends the server with SIGKILL and waits until it is gone.
func (s *Server) Kill() error {
	if err := ignoreEnded(s.process.Kill()); err != nil {
		return err
	}
	<-s.done
	return nil
}

func ignoreEnded(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// WaitReady waits until the server is ready. If the server does not become ready, the error
// contains the reason and the end of the server's log.
func (s *Server) WaitReady(ctx context.Context) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	answer := "/readyz has not responded yet"
	for {
		if status, body, err := s.Readyz(ctx); err == nil && status == http.StatusOK {
			return nil
		} else if err == nil {
			answer = fmt.Sprintf("/readyz returns %d: %s", status, body)
		}
		select {
		case <-s.done:
			return fmt.Errorf("wait for the server: it has ended: %w; the last lines of its log:\n%s", s.untimely(), Tail(s.Log(), logTail))
		case <-ctx.Done():
			return fmt.Errorf("wait for the server: %w: %s; the last lines of its log:\n%s", context.Cause(ctx), answer, Tail(s.Log(), logTail))
		case <-ticker.C:
		}
	}
}

// untimely returns the server's error, or an error for a clean exit.
func (s *Server) untimely() error {
	if s.err == nil {
		return errors.New("exit status 0")
	}
	return s.err
}

// Readyz returns the server's response at /readyz.
func (s *Server) Readyz(ctx context.Context) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.HTTPAddress+"/readyz", nil)
	if err != nil {
		return 0, "", fmt.Errorf("get /readyz: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", fmt.Errorf("get /readyz: %w", err)
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return 0, "", fmt.Errorf("get /readyz: %w", err)
	}
	return response.StatusCode, string(content), nil
}

// ServerForTest starts a server for a test, and stops it when the test ends, unless the test
// ended it. The test fails if the server does not start, does not stop cleanly, or logs a
// panic, even if the server recovered from it. If the test fails, it shows the end of the log.
func ServerForTest(tb testing.TB, options ServerOptions) *Server {
	tb.Helper()
	s, err := StartServer(context.Background(), options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		select {
		case <-s.Done():
		default:
			if err := s.Stop(); err != nil {
				tb.Errorf("stop the server: %v", err)
			}
		}
		if line := panicLine(s.Log()); line != "" {
			tb.Errorf("the server panicked: %s", line)
		}
		if tb.Failed() {
			tb.Logf("the test failed; the last lines of the server's log:\n%s", Tail(s.Log(), 5*logTail))
		}
	})
	return s
}

// panicLine returns the first line of a log that mentions a panic, recovered or not, or "".
func panicLine(log string) string {
	for line := range strings.Lines(log) {
		if strings.Contains(strings.ToLower(line), "panic") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
