"""Files to packets: pcap and pcapng, compressed or not."""
