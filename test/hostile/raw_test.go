package hostile

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// raw is an HTTP/2 connection of a client that breaks its promises.
type raw struct {
	conn    net.Conn
	framer  *http2.Framer
	headers bytes.Buffer
	encoder *hpack.Encoder
	stream  uint32
}

func dialRaw(t *testing.T, address string) *raw {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := &raw{conn: conn, framer: http2.NewFramer(conn, conn), stream: 1}
	r.encoder = hpack.NewEncoder(&r.headers)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := r.framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	// The server must be able to write.
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	return r
}

// open begins a call whose request announces a size, and sends some of it. The errors of a
// connection that the server has closed do not matter to an attacker.
func (r *raw) open(method, authorization string, announced uint32, sent int) {
	if r.header(method, authorization, "") {
		r.data(announced, make([]byte, sent))
	}
}

// header begins a call with a timeout, unless it is empty; false if the connection is closed.
func (r *raw) header(method, authorization, timeout string) bool {
	_ = r.conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
	r.headers.Reset()
	fields := [][2]string{{":method", "POST"}, {":scheme", "https"}, {":path", method}, {":authority", "server"}, {"content-type", "application/grpc"}, {"te", "trailers"}}
	if authorization != "" {
		fields = append(fields, [2]string{"authorization", authorization})
	}
	if timeout != "" {
		fields = append(fields, [2]string{"grpc-timeout", timeout})
	}
	for _, field := range fields {
		_ = r.encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	r.stream += 2
	return r.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: r.stream - 2, BlockFragment: r.headers.Bytes(), EndHeaders: true}) == nil
}

// data sends a message, or the beginning of one, in the call that was begun last.
func (r *raw) data(announced uint32, sent []byte) {
	data := append(binary.BigEndian.AppendUint32([]byte{0}, announced), sent...)
	for len(data) > 0 {
		part := data[:min(len(data), 16<<10)]
		if r.framer.WriteData(r.stream-2, false, part) != nil {
			return
		}
		data = data[len(part):]
	}
}

// reset ends the call that was begun last.
func (r *raw) reset() { _ = r.framer.WriteRSTStream(r.stream-2, http2.ErrCodeCancel) }

// end ends the request of the call that was begun last.
func (r *raw) end() { _ = r.framer.WriteData(r.stream-2, true, nil) }
