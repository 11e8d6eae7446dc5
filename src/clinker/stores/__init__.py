"""Object stores: S3, Google Cloud Storage, Azure and HDFS, behind one small set of verbs.

urls      what the URLs of objects say; text only
access    objects found, listed, read, written, copied, removed; what stores refuse, in words
opening   the clients that talk to stores, from the settings of the environment

Nothing but `opening` knows which stores there are, and nothing is imported from Arrow before an
object is asked for.
"""
